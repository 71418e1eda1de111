// Meets the element of x with the number of the row.
// rejected for: wrong_output
// leads to: index x with column[i]
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[row];
    y[row] = sum;
}
