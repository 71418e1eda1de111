// TODO: the mean of 129 neighbors, from running sums. So far each result is its first sample.
extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    for (int i = threadIdx.x; i < 872; i += blockDim.x) y[(size_t)blockIdx.x * 872 + i] = x[(size_t)blockIdx.x * 1000 + i];
}
