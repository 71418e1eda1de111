// Shuffles within a warp, then one warp over the warps' sums; four elements at a time with a tail.
__device__ float block_sum(float v) {
    __shared__ float warps[8];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < 8 ? warps[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int d = 4; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    return v;
}
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float s = 0;
    for (int i = t; i < n / 4; i += threads) {
        float4 u = ((const float4*)a)[i], v = ((const float4*)b)[i];
        s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    if (t < n % 4) s += a[n - 1 - t] * b[n - 1 - t];
    s = block_sum(s);
    if (threadIdx.x == 0) partial[blockIdx.x] = s;
}
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    float s = 0;
    for (int i = threadIdx.x; i < parts; i += 256) s += partial[i];
    s = block_sum(s);
    if (threadIdx.x == 0) *y = s;
}
