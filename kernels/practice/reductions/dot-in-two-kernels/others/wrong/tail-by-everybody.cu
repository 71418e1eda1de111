// The tail of up to three elements is added by a thread of every block.
// rejected for: wrong_output
// leads to: more than once
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    __shared__ float s[256];
    float own = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += 256 * gridDim.x) {
        float4 u = ((const float4*)a)[i], v = ((const float4*)b)[i];
        own += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    if (threadIdx.x < n % 4) own += a[n / 4 * 4 + threadIdx.x] * b[n / 4 * 4 + threadIdx.x];
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
