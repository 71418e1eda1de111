// One thread a row: right, with a sector for nearly every load.
// does not reach: Loads together
// lockstep: csr_warps.grid = ceil_div(rows, 128)
extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
