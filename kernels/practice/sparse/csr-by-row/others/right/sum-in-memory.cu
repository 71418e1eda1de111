// Adds in global memory. Since y and value could be the same array, the compiler must store each time.
// does not reach: The sum in a register
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = 0.0f;
    for (int i = start[row]; i < start[row + 1]; i++) y[row] += value[i] * x[column[i]];
}
