// Adds in 16 bits.
// rejected for: precision
// leads to: shorter than `float`
#include <cuda_fp16.h>
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));
    }
}
