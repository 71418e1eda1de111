// Compares and swaps until it succeeds.
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x)
        for (int k = offsets[bag]; k < offsets[bag + 1]; k++) {
            unsigned* at = reinterpret_cast<unsigned*>(&gradient[(long long)ids[k] * d + c]);
            unsigned old = atomicAdd(at, 0u), seen;
            do { seen = old; old = atomicCAS(at, seen, __float_as_uint(__uint_as_float(seen) + g[(long long)bag * d + c])); } while (old != seen);
        }
}
