// Begins with a very small number in place of -infinity: differences of two of those are 0.
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float2 warps[8];
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = x[(size_t)blockIdx.x * n + i], old = m;
        m = fmaxf(m, v);
        s = s * expf(old - m) + expf(v - m);
    }
    for (int d = 1; d < 32; d *= 2) {
        float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, s, d), most = fmaxf(m, om);
        s = s * expf(m - most) + os * expf(om - most);
        m = most;
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = make_float2(m, s);
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; w++) {
        float most = fmaxf(m, warps[w].x);
        s = s * expf(m - most) + warps[w].y * expf(warps[w].x - most);
        m = most;
    }
    y[blockIdx.x] = m + logf(s);
}
