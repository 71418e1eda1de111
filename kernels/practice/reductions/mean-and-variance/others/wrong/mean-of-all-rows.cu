// Subtracts the first element of the whole matrix and adds back the first of the row.
// rejected for: wrong_output
// leads to: the same number
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    if (threadIdx.x) return;
    const float* row = x + (size_t)blockIdx.x * n;
    float a = 0, b = 0;
    for (int i = 0; i < n; i++) a += row[i] - x[0], b += (row[i] - x[0]) * (row[i] - x[0]);
    mean[blockIdx.x] = row[0] + a / n, variance[blockIdx.x] = b / n - a / n * (a / n);
}
