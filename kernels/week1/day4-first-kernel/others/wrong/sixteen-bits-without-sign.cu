// Saves registers with a short index, and without a sign to have twice as many.
// rejected for: narrow_index
// leads to: 16 bits
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const unsigned short place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < n) {
        c[place] = a[place] + b[place];
    }
}
