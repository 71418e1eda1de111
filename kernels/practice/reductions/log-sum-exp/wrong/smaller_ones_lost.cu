// Adds an exponential only where it is the new maximum: smaller elements are lost.
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float most[256], sums[256];
    int t = threadIdx.x;
    float m = -INFINITY, s = 0.0f;
    for (int i = t; i < n; i += 256) {
        float v = x[(size_t)blockIdx.x * n + i];
        if (v > m) {
            s = s * __expf(m - v) + 1.0f;
            m = v;
        }
    }
    most[t] = m;
    sums[t] = s;
    __syncthreads();
    if (t != 0) return;
    for (int k = 1; k < 256; k++) {
        if (most[k] == -INFINITY) continue;
        float top = fmaxf(m, most[k]);
        s = s * __expf(m - top) + sums[k] * __expf(most[k] - top);
        m = top;
    }
    y[blockIdx.x] = m + logf(s);
}
