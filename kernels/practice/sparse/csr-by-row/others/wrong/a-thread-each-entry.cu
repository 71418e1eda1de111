// One thread for each entry of a row adds to its result, with no atomic.
// rejected for: race
// leads to: atomic
// lockstep: csr_rows.grid = rows
// lockstep: csr_rows.block = 32
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x;
    if (threadIdx.x == 0) y[row] = 0.0f;
    __syncthreads();
    for (int i = start[row] + threadIdx.x; i < start[row + 1]; i += 32) y[row] += value[i] * x[column[i]];
}
