// y = x, 8 rows of 128 bytes at a time, by way of shared memory: written along the rows, read down the columns.
#include "mma.cuh"

extern "C" __global__ void both_sides(const float* x, float* y)
{
    __shared__ __align__(128) float4 tile[64]; // 8 rows of 8 pieces; a piece is 16 bytes
    const float4* from = reinterpret_cast<const float4*>(x) + blockIdx.x * 64;
    float4* to = reinterpret_cast<float4*>(y) + blockIdx.x * 64;

    for (int i = threadIdx.x; i < 64; i += 32) {
        const int row = i / 8, piece = i % 8; // eight lanes walk along a row
        tile[row * 8 + (piece ^ row)] = from[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 32) {
        const int row = i % 8, piece = i / 8; // eight lanes walk down a column, as ldmatrix does
        // TODO: the pieces were mixed when they were stored. Read each one from where it really is.
        to[row * 8 + piece] = tile[row * 8 + piece];
    }
}
