// An element that is the new smallest is not looked at as the largest: the first element of a lane is lost.
// rejected for: wrong_output
// leads to: both
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float lo = INFINITY, hi = -INFINITY;
    for (int i = lane; i < n; i += 32) {
        float v = x[row * n + i];
        if (v < lo) lo = v;
        else if (v > hi) hi = v;
    }
    for (int d = 16; d; d /= 2) lo = fminf(lo, __shfl_xor_sync(~0u, lo, d)), hi = fmaxf(hi, __shfl_xor_sync(~0u, hi, d));
    if (lane == 0) min[row] = lo, max[row] = hi;
}
