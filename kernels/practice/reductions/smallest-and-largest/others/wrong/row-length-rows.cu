// Takes the number of rows for the length of a row.
// rejected for: out_of_bounds
// leads to: A row has n elements
#define ALL 0xffffffffu

extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float least = INFINITY, most = -INFINITY;
    for (int i = lane; i < n; i += 32) {
        float value = x[(size_t)row * rows + i];
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
