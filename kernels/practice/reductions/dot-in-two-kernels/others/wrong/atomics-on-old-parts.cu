// Blocks add into partial[0] with atomics: partial is believed to be zero before every run.
// rejected for: wrong_output
// leads to: sets `partial` to zero
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    float own = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) own += a[i] * b[i];
    for (int d = 16; d; d /= 2) own += __shfl_xor_sync(~0u, own, d);
    if (threadIdx.x == 0) atomicAdd(partial, own);
}
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    if (threadIdx.x == 0) y[0] = partial[0];
}
