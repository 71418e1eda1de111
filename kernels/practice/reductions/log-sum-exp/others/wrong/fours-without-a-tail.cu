// Four scores at a time; those that are left over at the end of a row are forgotten.
// rejected for: wrong_output
// leads to: part of the row
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float2 warps[8];
    const float* row = x + (size_t)blockIdx.x * n;
    float m = row[0], s = 0;
    if (n < 4 && threadIdx.x < n) s = expf(row[threadIdx.x] - m);
    for (int i = 4 * threadIdx.x; i + 3 < n; i += 4 * 256)
        for (int k = 0; k < 4; k++) {
            float most = fmaxf(m, row[i + k]);
            s = s * expf(m - most) + expf(row[i + k] - most);
            m = most;
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
