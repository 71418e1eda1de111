// One thread for each row of the matrix.
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    // TODO: add up value * x over the row's entries.

    y[row] = sum;
}
