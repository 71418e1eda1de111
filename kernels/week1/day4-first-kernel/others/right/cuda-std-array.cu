// With cuda::std::array and a span of four.
#include "lab.cuh"
#include <cuda/std/array>
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::std::array<float, 4> s{};
    for (int e = 0; e < 4; ++e) if (4 * i + e < n) s[e] = a[4 * i + e] + b[4 * i + e];
    for (int e = 0; e < 4; ++e) if (4 * i + e < n) c[4 * i + e] = s[e];
}
