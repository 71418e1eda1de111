// Two passes over x in memory, no row in shared memory.
// does not reach: Read once
extern "C" __global__ void rms_norm(const float* x, float* y, float epsilon, int m, int n) {
    __shared__ float total;
    const float* row = x + (long long)blockIdx.x * n;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i] * row[i];
    atomicAdd(&total, sum);
    __syncthreads();
    float scale = rsqrtf(total / n + epsilon);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[(long long)blockIdx.x * n + i] = row[i] * scale;
}
