// Welford's method in each thread, and Chan's rule to merge two halves.
__device__ void merge(float& count, float& mean, float& squares, float c, float m, float q) {
    float both = count + c;
    if (both == 0) return;
    float gap = m - mean;
    mean += gap * c / both;
    squares += q + gap * gap * count * c / both;
    count = both;
}
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    __shared__ float3 s[256];
    const float* row = x + (size_t)blockIdx.x * n;
    float count = 0, m = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        count += 1;
        float gap = row[i] - m;
        m += gap / count;
        q += gap * (row[i] - m);
    }
    s[threadIdx.x] = make_float3(count, m, q);
    for (int h = 128; h; h /= 2) {
        __syncthreads();
        if (threadIdx.x < h) {
            float3 o = s[threadIdx.x + h];
            merge(count, m, q, o.x, o.y, o.z);
            s[threadIdx.x] = make_float3(count, m, q);
        }
    }
    if (threadIdx.x == 0) mean[blockIdx.x] = m, variance[blockIdx.x] = q / n;
}
