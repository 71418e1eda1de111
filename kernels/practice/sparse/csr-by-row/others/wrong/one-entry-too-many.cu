// Takes the first entry of the next row as well.
// rejected for: wrong_output
// leads to: not including
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row]; i <= start[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
