// The stride is a block, not the grid: every block adds up everything behind it once more.
// rejected for: wrong_output
// leads to: a stride of the whole grid
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    __shared__ float s[256];
    float own = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += blockDim.x) own += a[i] * b[i];
    s[threadIdx.x] = own;
    __syncthreads();
    for (int h = 128; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    if (threadIdx.x) return;
    float sum = 0;
    for (int i = 0; i < parts; i++) sum += partial[i];
    y[0] = sum;
}
