// One element for each thread and no loop, as if the grid always had a thread for every element.
// rejected for: wrong_output
// leads to: a stride of the whole grid
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (int h = 128; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    __shared__ float s[256];
    float own = 0;
    for (int i = threadIdx.x; i < parts; i += 256) own += partial[i];
    s[threadIdx.x] = own;
    __syncthreads();
    for (int h = 128; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[0] = s[0];
}
