// Four columns at a time where rows begin at a multiple of 16 bytes; the maximum as the minimum of the negated numbers.
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float lo = 3.4e38f, minus_hi = 3.4e38f;
    if (n % 4 == 0) {
        const float4* fours = (const float4*)(x + (size_t)row * n);
        for (int i = lane; i < n / 4; i += 32) {
            float4 v = fours[i];
            lo = fminf(lo, fminf(fminf(v.x, v.y), fminf(v.z, v.w)));
            minus_hi = fminf(minus_hi, -fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        }
    } else
        for (int i = lane; i < n; i += 32) {
            float v = x[(size_t)row * n + i];
            if (v < lo) lo = v;
            if (-v < minus_hi) minus_hi = -v;
        }
    for (int d = 1; d < 32; d *= 2) {
        lo = fminf(lo, __shfl_xor_sync(~0u, lo, d));
        minus_hi = fminf(minus_hi, __shfl_xor_sync(~0u, minus_hi, d));
    }
    if (lane == 0) min[row] = lo, max[row] = -minus_hi;
}
