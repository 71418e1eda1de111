// TODO: the weighted sum of 65 neighbors. So far each result is its first sample.
extern "C" __global__ void blur(const float* x, const float* weights, float* y) {
    for (int i = threadIdx.x; i < 448; i += blockDim.x) y[(size_t)blockIdx.x * 448 + i] = x[(size_t)blockIdx.x * 512 + i];
}
