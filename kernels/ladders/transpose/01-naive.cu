#include "lab.cuh"

// Transpose, rung 1: y[column][row] = x[row][column], one thread, one element.
//
// The reads are coalesced. The writes are not: neighboring threads write m floats apart, each into a 32-byte sector of
// its own, of which 4 bytes are new. L2 gathers some of them; what it must give up too early is written in pieces.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(n, block_x), ceil_div(m, block_y)
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        y[(long long)column * m + row] = x[(long long)row * n + column];
    }
}
