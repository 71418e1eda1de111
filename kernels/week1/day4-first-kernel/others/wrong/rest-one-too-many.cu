// Adds four at a time; the thread for the rest goes one element too far.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
extern "C" __global__ void vector_add(const float4* a, const float4* b, float4* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 u = a[i], v = b[i];
        c[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
    if (i == 0) for (int r = n / 4 * 4; r <= n; r++) ((float*)c)[r] = ((float*)a)[r] + ((float*)b)[r];
}
