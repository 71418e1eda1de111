// Believes that a block is one warp: rows from the grid's number on stay empty.
// rejected for: never_written
// leads to: a bound is too small
#define ALL 0xffffffffu

extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x, lane = threadIdx.x % 32;
    if (threadIdx.x >= 32) return;
    float least = INFINITY, most = -INFINITY;
    for (int i = lane; i < n; i += 32) {
        float value = x[(size_t)row * n + i];
        least = fminf(least, value);
        most = fmaxf(most, value);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        least = fminf(least, __shfl_xor_sync(ALL, least, distance));
        most = fmaxf(most, __shfl_xor_sync(ALL, most, distance));
    }
    if (lane == 0) {
        min[row] = least;
        max[row] = most;
    }
}
