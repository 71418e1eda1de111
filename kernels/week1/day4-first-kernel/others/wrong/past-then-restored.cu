// Writes behind the end and puts it back.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int at = i < n ? i : n;
    const float old = c[at];
    c[at] = a[i < n ? i : 0] + b[i < n ? i : 0];
    if (i >= n) c[at] = old;
}
