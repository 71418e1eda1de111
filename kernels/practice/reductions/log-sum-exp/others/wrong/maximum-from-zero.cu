// The maximum begins at 0.
// rejected for: wrong_output
// leads to: begins at -INFINITY
#define ALL 0xffffffffu

__device__ float2 merged(float2 a, float2 b) {  // x: maximum, y: sum of exp(value - maximum)
    float most = fmaxf(a.x, b.x);
    if (most == -INFINITY) return a;
    return make_float2(most, a.y * __expf(a.x - most) + b.y * __expf(b.x - most));
}

extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    __shared__ float2 warps[32];
    const float* row = x + (size_t)blockIdx.x * n;
    float2 own = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) own = merged(own, make_float2(row[i], 1.0f));
    for (int distance = 16; distance > 0; distance /= 2)
        own = merged(own, make_float2(__shfl_xor_sync(ALL, own.x, distance), __shfl_xor_sync(ALL, own.y, distance)));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < blockDim.x / 32; warp++) own = merged(own, warps[warp]);
    y[blockIdx.x] = own.x + logf(own.y);
}
