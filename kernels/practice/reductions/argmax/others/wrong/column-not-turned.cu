// Packs score and column into one integer, but with the column as it is: the last of equal ones wins.
// rejected for: wrong_output
// leads to: the smaller column must win
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    unsigned long long best = 0;
    for (int i = lane; i < n; i += 32) {
        unsigned bits = __float_as_uint(x[row * n + i] + 0.0f);
        bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        best = max(best, (unsigned long long)bits << 32 | (unsigned)i);
    }
    for (int d = 16; d; d >>= 1) best = max(best, __shfl_down_sync(0xffffffffu, best, d));
    if (lane == 0) index[row] = (int)(unsigned)best, value[row] = x[row * n + (int)(unsigned)best];
}
