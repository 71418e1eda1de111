// Leaves out the last score of a row of more than one.
// rejected for: wrong_output
// leads to: part of the row
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    if (threadIdx.x) return;
    float m = row[0], s = 1;
    for (int i = 1; i < n - 1; i++) {
        float most = fmaxf(m, row[i]);
        s = s * expf(m - most) + expf(row[i] - most);
        m = most;
    }
    y[blockIdx.x] = m + logf(s);
}
