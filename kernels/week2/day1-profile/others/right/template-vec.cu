// Guards each vector and not each block, in a template over the loads ahead.
#include "lab.cuh"
template <int AHEAD>
__device__ __forceinline__ void fast(const float *x, const float *y, float *out, float alpha, int n)
{
    const int width = AHEAD * blockDim.x;
    const int whole = n >> 2;
    float4 a[AHEAD], b[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
        int v = blockIdx.x * width + i * blockDim.x + threadIdx.x;
        a[i] = v < whole ? __ldg(reinterpret_cast<const float4 *>(x) + v) : make_float4(0, 0, 0, 0);
        b[i] = v < whole ? __ldg(reinterpret_cast<const float4 *>(y) + v) : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
        int v = blockIdx.x * width + i * blockDim.x + threadIdx.x;
        if (v < whole) {
            float4 r = {fmaf(alpha, a[i].x, b[i].x), fmaf(alpha, a[i].y, b[i].y), fmaf(alpha, a[i].z, b[i].z),
                        fmaf(alpha, a[i].w, b[i].w)};
            __stcs(reinterpret_cast<float4 *>(out) + v, r);
        }
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < (n & 3)) {
        int i = (whole << 2) + threadIdx.x;
        out[i] = alpha * x[i] + y[i];
    }
}

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    fast<4>(x, y, out, alpha, n);
}
