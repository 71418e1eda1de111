// Goes on with the sum of the row before.
// rejected for: wrong_output
// leads to: 0
// lockstep: csr_rows.grid = 1
// lockstep: csr_rows.block = 32
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    float sum = 0.0f;
    for (int row = threadIdx.x; row < rows; row += 32) {
        for (int i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}
