// Writes the standard deviation.
// rejected for: wrong_output
// leads to: square root
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    if (threadIdx.x) return;
    const float* row = x + (size_t)blockIdx.x * n;
    float a = 0, b = 0;
    for (int i = 0; i < n; i++) a += row[i] - row[0];
    a = row[0] + a / n;
    for (int i = 0; i < n; i++) b += (row[i] - a) * (row[i] - a);
    mean[blockIdx.x] = a, variance[blockIdx.x] = sqrtf(b / n);
}
