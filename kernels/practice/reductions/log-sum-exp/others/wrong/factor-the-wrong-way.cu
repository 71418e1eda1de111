// Scales the old sum by exp(new - old) where a larger element comes.
// rejected for: wrong_output
// leads to: s * exp(m - m2)
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    if (threadIdx.x) return;
    const float* row = x + (size_t)blockIdx.x * n;
    float m = row[0], s = 1;
    for (int i = 1; i < n; i++) {
        float most = fmaxf(m, row[i]);
        s = s * expf(most - m) + expf(row[i] - most);
        m = most;
    }
    y[blockIdx.x] = m + logf(s);
}
