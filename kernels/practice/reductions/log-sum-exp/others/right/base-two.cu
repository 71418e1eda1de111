// Works in powers of two throughout, and goes back to e at the end.
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float ms[256], ss[256];
    const float* row = x + (size_t)blockIdx.x * n;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = row[i] * 1.44269504f;
        if (v > m) s = s * exp2f(m - v) + 1, m = v;
        else s += exp2f(v - m);
    }
    ms[threadIdx.x] = m;
    ss[threadIdx.x] = s;
    __syncthreads();
    for (int h = 128; h; h /= 2) {
        if (threadIdx.x < h && ss[threadIdx.x + h] > 0) {
            float a = ms[threadIdx.x], b = ms[threadIdx.x + h], most = fmaxf(a, b);
            ss[threadIdx.x] = ss[threadIdx.x] * exp2f(a - most) + ss[threadIdx.x + h] * exp2f(b - most);
            ms[threadIdx.x] = most;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = (ms[0] + log2f(ss[0])) * 0.693147181f;
}
