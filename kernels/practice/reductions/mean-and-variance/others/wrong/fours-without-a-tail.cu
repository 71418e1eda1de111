// Four elements at a time, without those that are left over.
// rejected for: wrong_output
// leads to: every element of the row
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    __shared__ float s[256], q[256];
    const float* row = x + (size_t)blockIdx.x * n;
    float a = 0, b = 0, shift = row[0];
    int t = threadIdx.x;
    for (int i = 4 * t; i + 3 < n; i += 1024)
        for (int k = 0; k < 4; k++) a += row[i + k] - shift, b += (row[i + k] - shift) * (row[i + k] - shift);
    s[t] = a, q[t] = b;
    for (int h = 128; h; h /= 2) {
        __syncthreads();
        if (t < h) s[t] += s[t + h], q[t] += q[t + h];
    }
    if (t == 0) mean[blockIdx.x] = shift + s[0] / n, variance[blockIdx.x] = q[0] / n - s[0] / n * (s[0] / n);
}
