// As on a CPU: each thread takes neighboring elements.
// does not reach: Loads without a gap
// The sum of a block's 256 values, in thread 0.
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
    float sum = 0.0f;
    int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads + 15;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = first; i < min(n, first + each); i++) sum += a[i] * b[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < parts; i += blockDim.x) sum += partial[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) y[0] = sum;
}
