// All threads of the second kernel add their share straight to y, without an atomic addition and with y never set.
// rejected for: race
// leads to: the same element
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    __shared__ float s[256];
    float own = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) own += a[i] * b[i];
    s[threadIdx.x] = own;
    __syncthreads();
    for (int h = 128; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    if (threadIdx.x == 0) y[0] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < parts; i += blockDim.x) y[0] += partial[i];
}
