// All 32 lanes store after exchanges that leave the result in lane 0 only.
// rejected for: race
// leads to: compute the same index
#define ALL 0xffffffffu

extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float least = INFINITY, most = -INFINITY;
    for (int i = lane; i < n; i += 32) {
        float value = x[(size_t)row * n + i];
        least = fminf(least, value);
        most = fmaxf(most, value);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        least = fminf(least, __shfl_down_sync(ALL, least, distance));
        most = fmaxf(most, __shfl_down_sync(ALL, most, distance));
    }
    min[row] = least;
    max[row] = most;
}
