// The fast path takes 128 columns a round, and only whole rounds.
// rejected for: wrong_output
// leads to: the last columns
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float lo = INFINITY, hi = -INFINITY;
    if (n % 4 == 0)
        for (int first = 0; first + 128 <= n; first += 128) {
            float4 v = *(const float4*)(x + row * n + first + 4 * lane);
            lo = fminf(lo, fminf(fminf(v.x, v.y), fminf(v.z, v.w)));
            hi = fmaxf(hi, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        }
    else
        for (int i = lane; i < n; i += 32) lo = fminf(lo, x[row * n + i]), hi = fmaxf(hi, x[row * n + i]);
    for (int d = 16; d; d /= 2) lo = fminf(lo, __shfl_xor_sync(~0u, lo, d)), hi = fmaxf(hi, __shfl_xor_sync(~0u, hi, d));
    if (lane == 0) min[row] = lo, max[row] = hi;
}
