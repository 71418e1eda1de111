// Compares the bits of the scores as whole numbers without a sign: any score below zero then beats all above.
// rejected for: wrong_output
// leads to: not as bits
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    unsigned long long best = 0;
    for (int i = lane; i < n; i += 32)
        best = max(best, (unsigned long long)__float_as_uint(x[row * n + i]) << 32 | (unsigned)(n - i));
    for (int d = 16; d; d >>= 1) best = max(best, __shfl_down_sync(0xffffffffu, best, d));
    if (lane == 0) index[row] = n - (int)(unsigned)best, value[row] = __uint_as_float(best >> 32);
}
