// Every window is added up anew, from global memory.
// does not reach: Each sample is loaded once
extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    for (int i = threadIdx.x; i < 872; i += blockDim.x) {
        float sum = 0.0f;
        for (int t = 0; t < 129; t++) sum += x[(size_t)blockIdx.x * 1000 + i + t];
        y[(size_t)blockIdx.x * 872 + i] = weights[0] * sum;
    }
}
