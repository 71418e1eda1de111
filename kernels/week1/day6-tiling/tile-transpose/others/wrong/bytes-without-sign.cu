// Keeps rows and columns in bytes without a sign.
// rejected for: narrow_index
// leads to: 8 bits
#include "lab.cuh"
// lockstep: block = EDGE, EDGE
// lockstep: grid = ceil_div(columns, EDGE), ceil_div(rows, EDGE)
#define EDGE 8

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[EDGE][EDGE + 1];
    const unsigned char from = EDGE * blockIdx.y + threadIdx.y, at = EDGE * blockIdx.x + threadIdx.x;
    if (from < rows && at < columns) {
        tile[threadIdx.y][threadIdx.x] = x[from * columns + at];
    }
    __syncthreads();
    const unsigned char to = EDGE * blockIdx.x + threadIdx.y, place = EDGE * blockIdx.y + threadIdx.x;
    if (to < columns && place < rows) {
        y[to * rows + place] = tile[threadIdx.x][threadIdx.y];
    }
}
