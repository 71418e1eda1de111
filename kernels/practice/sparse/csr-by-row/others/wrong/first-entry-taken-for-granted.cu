// Starts the sum with the first entry, even where the row has none.
// rejected for: wrong_output
// leads to: entries
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = value[start[row]] * x[column[start[row]]];
    for (int i = start[row] + 1; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
