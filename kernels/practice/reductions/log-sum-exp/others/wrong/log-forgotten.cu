// Adds the sum itself to the maximum, not its logarithm.
// rejected for: wrong_output
// leads to: y = m + log(s)
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    if (threadIdx.x) return;
    const float* row = x + (size_t)blockIdx.x * n;
    float m = row[0], s = 0;
    for (int i = 1; i < n; i++) m = fmaxf(m, row[i]);
    for (int i = 0; i < n; i++) s += expf(row[i] - m);
    y[blockIdx.x] = m + s;
}
