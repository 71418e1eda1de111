// Four at a time, and the rest one by one.
#include "lab.cuh"

// lockstep: grid = ceil_div(n, 4 * block_x)
// lockstep: block = 64
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 4 <= n) {
        const float4 x = *reinterpret_cast<const float4*>(a + first), y = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(c + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (int i = first; i < n; ++i) c[i] = a[i] + b[i];
    }
}
