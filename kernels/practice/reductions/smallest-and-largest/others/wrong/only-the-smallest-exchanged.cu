// Only the smallest is exchanged between lanes; lane 0 stores its own largest.
// rejected for: wrong_output
// leads to: for both results
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float lo = INFINITY, hi = -INFINITY;
    for (int i = lane; i < n; i += 32) lo = fminf(lo, x[row * n + i]), hi = fmaxf(hi, x[row * n + i]);
    for (int d = 16; d; d /= 2) lo = fminf(lo, __shfl_xor_sync(~0u, lo, d));
    if (lane == 0) min[row] = lo, max[row] = hi;
}
