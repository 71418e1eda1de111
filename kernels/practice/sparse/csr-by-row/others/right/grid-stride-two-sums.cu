// A loop over rows, and two sums that take turns.
// lockstep: csr_rows.grid = 1
extern "C" __global__ void csr_rows(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        int i = start[row], end = start[row + 1];
        float a = 0.0f, b = 0.0f;
        for (; i + 1 < end; i += 2) {
            a = fmaf(__ldg(value + i), __ldg(x + column[i]), a);
            b = fmaf(__ldg(value + i + 1), __ldg(x + column[i + 1]), b);
        }
        if (i < end) a += value[i] * x[column[i]];
        y[row] = a + b;
    }
}
