extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float sums[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[(size_t)blockIdx.x * n + i]);
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = logf(sums[0]);
}
