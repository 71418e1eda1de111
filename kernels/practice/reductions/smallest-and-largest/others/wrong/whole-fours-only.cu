// Four columns at a time; the columns that are left over are forgotten.
// rejected for: wrong_output
// leads to: the last columns
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float lo = x[row * n], hi = lo;
    for (int i = 4 * lane; i + 3 < n; i += 128)
        for (int k = 0; k < 4; k++) lo = fminf(lo, x[row * n + i + k]), hi = fmaxf(hi, x[row * n + i + k]);
    for (int d = 16; d; d /= 2) lo = fminf(lo, __shfl_xor_sync(~0u, lo, d)), hi = fmaxf(hi, __shfl_xor_sync(~0u, hi, d));
    if (lane == 0) min[row] = lo, max[row] = hi;
}
