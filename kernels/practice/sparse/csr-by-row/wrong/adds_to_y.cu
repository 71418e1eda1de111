extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int i = start[row]; i < start[row + 1]; i++) y[row] += value[i] * x[column[i]];
}
