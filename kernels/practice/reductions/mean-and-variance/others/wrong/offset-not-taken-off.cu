// Divides the sum of the squared differences from the first element, and forgets that this is not the mean.
// rejected for: wrong_output
// leads to: (sum(d) / n) squared
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    if (threadIdx.x) return;
    const float* row = x + (size_t)blockIdx.x * n;
    float a = 0, b = 0;
    for (int i = 0; i < n; i++) a += row[i] - row[0], b += (row[i] - row[0]) * (row[i] - row[0]);
    mean[blockIdx.x] = row[0] + a / n, variance[blockIdx.x] = b / n;
}
