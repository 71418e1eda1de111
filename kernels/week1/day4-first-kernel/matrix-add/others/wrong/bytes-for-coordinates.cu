// Keeps both coordinates in bytes.
// rejected for: narrow_index
// leads to: 8 bits
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const unsigned char r = threadIdx.y + blockIdx.y * blockDim.y;
    const unsigned char s = threadIdx.x + blockIdx.x * blockDim.x;
    if (r < rows && s < columns) {
        c[r * columns + s] = a[r * columns + s] + b[r * columns + s];
    }
}
