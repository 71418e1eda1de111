// Knows that the numbers are near 1000 and subtracts that; four at a time where rows allow it.
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    __shared__ float s[256], q[256];
    const float* row = x + (size_t)blockIdx.x * n;
    float a = 0, b = 0;
    int t = threadIdx.x;
    if (n % 4 == 0)
        for (int i = t; i < n / 4; i += 256) {
            float4 v = ((const float4*)row)[i];
            v.x -= 1000, v.y -= 1000, v.z -= 1000, v.w -= 1000;
            a += v.x + v.y + v.z + v.w;
            b += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        }
    else
        for (int i = t; i < n; i += 256) a += row[i] - 1000, b += (row[i] - 1000) * (row[i] - 1000);
    s[t] = a, q[t] = b;
    for (int h = 128; h; h /= 2) {
        __syncthreads();
        if (t < h) s[t] += s[t + h], q[t] += q[t + h];
    }
    if (t == 0) mean[blockIdx.x] = 1000 + s[0] / n, variance[blockIdx.x] = q[0] / n - s[0] / n * (s[0] / n);
}
