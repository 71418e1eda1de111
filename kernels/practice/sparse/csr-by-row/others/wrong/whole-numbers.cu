// Rounds the sum to whole numbers.
// rejected for: wrong_output
// leads to: whole numbers
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int sum = 0;
    for (int i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
