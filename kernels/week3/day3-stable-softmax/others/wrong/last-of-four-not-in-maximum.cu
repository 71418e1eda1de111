// The largest of a float4 leaves out w, whose exponential overflows where it is far above the others.
// rejected for: nan_output
// leads to: all four are in the maximum
#include "lab.cuh"

// 16 bytes a load where the rows allow it, else one float. The body is a template over that.
// lockstep: block = 256
// lockstep: grid = rows
__shared__ float part_max[8], part_sum[8];

__device__ float max4(float4 v) { return fmaxf(fmaxf(v.x, v.y), v.z); }

template <bool WIDE>
__device__ void row_softmax(const float* from, float* to, float* lse, int columns)
{
    const int t = threadIdx.x;
    const float4* from4 = reinterpret_cast<const float4*>(from);
    float m = -INFINITY, l = 0.0f;
    if (WIDE) {
        for (int i = t; i < columns / 4; i += 256) m = fmaxf(m, max4(from4[i]));
    } else {
        for (int i = t; i < columns; i += 256) m = fmaxf(m, from[i]);
    }
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, d));
    if (t % 32 == 0) part_max[t / 32] = m;
    __syncthreads();
    m = part_max[0];
    for (int w = 1; w < 8; w++) m = fmaxf(m, part_max[w]);

    if (WIDE) {
        for (int i = t; i < columns / 4; i += 256) {
            const float4 v = from4[i];
            l += (expf(v.x - m) + expf(v.y - m)) + (expf(v.z - m) + expf(v.w - m));
        }
    } else {
        for (int i = t; i < columns; i += 256) l += expf(from[i] - m);
    }
    for (int d = 16; d > 0; d >>= 1) l += __shfl_xor_sync(FULL_MASK, l, d);
    if (t % 32 == 0) part_sum[t / 32] = l;
    __syncthreads();
    l = 0.0f;
    for (int w = 0; w < 8; w++) l += part_sum[w];

    const float r = 1.0f / l;
    if (WIDE) {
        for (int i = t; i < columns / 4; i += 256) {
            const float4 v = from4[i];
            reinterpret_cast<float4*>(to)[i] = make_float4(expf(v.x - m) * r, expf(v.y - m) * r, expf(v.z - m) * r, expf(v.w - m) * r);
        }
    } else {
        for (int i = t; i < columns; i += 256) to[i] = expf(from[i] - m) * r;
    }
    if (t == 0) *lse = m + logf(l);
}

extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const long long begin = (long long)blockIdx.x * columns;
    if (columns % 4 == 0) {
        row_softmax<true>(x + begin, y + begin, lse + blockIdx.x, columns);
    } else {
        row_softmax<false>(x + begin, y + begin, lse + blockIdx.x, columns);
    }
}
