// The second kernel is one thread that walks over the parts, with a correction for what each addition loses.
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    __shared__ float s[256];
    float own = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) own = fmaf(a[i], b[i], own);
    s[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    if (threadIdx.x) return;
    float sum = 0, lost = 0;
    for (int i = 0; i < parts; i++) {
        float next = partial[i] - lost, t = sum + next;
        lost = (t - sum) - next;
        sum = t;
    }
    y[0] = sum;
}
