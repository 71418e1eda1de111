// Compares magnitudes, as for a scale.
// rejected for: wrong_output
// leads to: from the row
#define ALL 0xffffffffu

extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float least = INFINITY, most = -INFINITY;
    for (int i = lane; i < n; i += 32) {
        float value = x[(size_t)row * n + i];
        least = fminf(least, value);
        most = fmaxf(most, fabsf(value));
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
