// A block for each row, and shared memory for the warps' results.
// lockstep: grid = rows
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    __shared__ float lows[8], highs[8];
    const float* row = x + (size_t)blockIdx.x * n;
    float lo = row[0], hi = row[0];
    for (int i = threadIdx.x; i < n; i += 256) lo = fminf(lo, row[i]), hi = fmaxf(hi, row[i]);
    for (int d = 16; d; d /= 2)
        lo = fminf(lo, __shfl_down_sync(~0u, lo, d)), hi = fmaxf(hi, __shfl_down_sync(~0u, hi, d));
    if (threadIdx.x % 32 == 0) lows[threadIdx.x / 32] = lo, highs[threadIdx.x / 32] = hi;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; w++) lo = fminf(lo, lows[w]), hi = fmaxf(hi, highs[w]);
    min[blockIdx.x] = lo, max[blockIdx.x] = hi;
}
