// Four columns a thread where rows begin at a multiple of sixteen bytes; shuffles, then atomics in shared memory.
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const float* from = x + (size_t)blockIdx.x * n;
    float* to = y + (size_t)blockIdx.x * n;
    float s = 0;
    int fours = n % 4 ? 0 : n / 4;
    for (int i = threadIdx.x; i < fours; i += 256) {
        float4 v = ((const float4*)from)[i];
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int i = 4 * fours + threadIdx.x; i < n; i += 256) s = fmaf(from[i], from[i], s);
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, s);
    __syncthreads();
    float r = rsqrtf(total / n + epsilon);
    for (int i = threadIdx.x; i < n; i += 256) to[i] = weight[i] * (from[i] * r);
    if (threadIdx.x == 255) rstd[blockIdx.x] = r;
}
