// First the largest element, then the sum.
// does not reach: One pass
__device__ float of_block(float own, bool is_sum) {
    __shared__ float values[256];
    __syncthreads();
    values[threadIdx.x] = own;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            float other = values[threadIdx.x + half];
            values[threadIdx.x] = is_sum ? values[threadIdx.x] + other : fmaxf(values[threadIdx.x], other);
        }
        __syncthreads();
    }
    return values[0];
}

extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
    most = of_block(most, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
    sum = of_block(sum, true);
    if (threadIdx.x == 0) y[blockIdx.x] = most + logf(sum);
}
