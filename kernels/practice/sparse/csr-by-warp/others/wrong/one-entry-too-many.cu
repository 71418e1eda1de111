// Takes the first entry of the next row as well.
// rejected for: wrong_output
// leads to: not including
extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row] + lane; i <= start[row + 1]; i += 32) sum += value[i] * x[column[i]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}
