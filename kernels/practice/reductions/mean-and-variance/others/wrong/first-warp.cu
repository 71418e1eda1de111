// Every warp adds up its own share, but only the first warp's sums are used.
// rejected for: wrong_output
// leads to: every warp
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < n; i += 256) a += row[i] - row[0], b += (row[i] - row[0]) * (row[i] - row[0]);
    for (int d = 16; d; d /= 2) a += __shfl_xor_sync(~0u, a, d), b += __shfl_xor_sync(~0u, b, d);
    if (threadIdx.x == 0) mean[blockIdx.x] = row[0] + a / n, variance[blockIdx.x] = b / n - a / n * (a / n);
}
