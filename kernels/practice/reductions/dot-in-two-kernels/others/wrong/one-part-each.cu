// In the second kernel each thread takes one part: the parts from 256 on are never added.
// rejected for: wrong_output
// leads to: Does the second kernel read all of them?
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
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x < parts ? partial[threadIdx.x] : 0.0f;
    __syncthreads();
    for (int h = 128; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[0] = s[0];
}
