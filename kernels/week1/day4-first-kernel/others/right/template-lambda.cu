// A template, a lambda and a local struct.
#include "lab.cuh"

template <typename F>
__device__ void for_mine(int n, F work)
{
    const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) work(i);
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    struct Pair { float x, y; __device__ float sum() const { return x + y; } };
    for_mine(n, [=](int i) { c[i] = Pair{a[i], b[i]}.sum(); });
}
