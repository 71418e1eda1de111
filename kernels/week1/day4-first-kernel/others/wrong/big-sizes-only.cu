// Uses groups of four where n is at least 1000, and leaves out the rest of n / 4.
// rejected for: tail_missing
// leads to: The beginning is right
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < 1000) { if (i < n) c[i] = a[i] + b[i]; }
    else if (4 * i + 3 < n) for (int e = 0; e < 4; e++) c[4 * i + e] = a[4 * i + e] + b[4 * i + e];
}
