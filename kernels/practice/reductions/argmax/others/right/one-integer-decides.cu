// Score and column in one 64-bit integer: the score's bits in order in the high half, the column counted down in the low.
__device__ unsigned long long packed(float score, int column) {
    unsigned bits = __float_as_uint(score + 0.0f);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)bits << 32 | (unsigned)~column;
}
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    unsigned long long best = 0;
    for (int i = lane; i < n; i += 32) best = max(best, packed(x[row * n + i], i));
    for (int d = 16; d; d >>= 1) best = max(best, __shfl_down_sync(0xffffffffu, best, d));
    if (lane) return;
    int column = ~(int)(unsigned)best;
    index[row] = column;
    value[row] = x[row * n + column];
}
