// Subtracts 120, which no score exceeds, in place of the row's own largest.
// rejected for: wrong_output
// leads to: the row's own
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += expf(x[(size_t)blockIdx.x * n + i] - 120.0f);
    atomicAdd(&total, s);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = 120.0f + logf(total);
}
