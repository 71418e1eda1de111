// exp2f and log2f as a fast path, without the factor between base 2 and base e.
// rejected for: wrong_output
// leads to: Base 2 needs
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    if (threadIdx.x) return;
    float m = -INFINITY, s = 0;
    for (int i = 0; i < n; i++) m = fmaxf(m, row[i]);
    for (int i = 0; i < n; i++) s += exp2f(row[i] - m);
    y[blockIdx.x] = m + log2f(s);
}
