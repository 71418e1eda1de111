// Eight lanes share a row.
// lockstep: csr_rows.grid = ceil_div(8 * rows, block_x)
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0.0f;
    if (row < rows)
        for (int i = start[row] + lane; i < start[row + 1]; i += 8) sum += value[i] * x[column[i]];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, 8);
    if (row < rows && lane == 0) y[row] = sum;
}
