// One thread for each row of the matrix.
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    int end = start[row + 1];
    for (int i = start[row]; i < end; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
