// Threads agree on the maximum, but their sums are added as they are, each for its own maximum.
// rejected for: wrong_output
// leads to: its own maximum
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float2 warps[8];
    const float* row = x + (size_t)blockIdx.x * n;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        float most = fmaxf(m, row[i]);
        s = s * expf(m - most) + expf(row[i] - most);
        m = most;
    }
    for (int d = 1; d < 32; d *= 2) {
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
        s += __shfl_xor_sync(~0u, s, d);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = make_float2(m, s);
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; w++) m = fmaxf(m, warps[w].x), s += warps[w].y;
    y[blockIdx.x] = m + logf(s);
}
