// Threads with no element leave before the barrier, and their place in shared memory is never set.
// rejected for: barrier_divergence
// leads to: keeps the sum 0
__device__ float sum_of_block(float own) {
    __shared__ float sums[256];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < parts; i += blockDim.x) sum += partial[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) y[0] = sum;
}
