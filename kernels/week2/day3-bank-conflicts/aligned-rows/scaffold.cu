#include "lab.cuh"

// y = x transposed, by tiles of 32 x 32, in float4 both ways. rows and columns are multiples of 32 here.
// The row of the tile is padded, as it should be. Or should it?
// TODO: one number is wrong.
#define PAD 1

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ __align__(16) float tile[32][32 + PAD];
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    const int r = threadIdx.y, c = 4 * threadIdx.x;

    *reinterpret_cast<float4*>(&tile[r][c]) =
        *reinterpret_cast<const float4*>(&x[(row0 + r) * columns + column0 + c]);
    __syncthreads();

    // Row r of the result is column r of the tile.
    *reinterpret_cast<float4*>(&y[(column0 + r) * rows + row0 + c]) =
        make_float4(tile[c][r], tile[c + 1][r], tile[c + 2][r], tile[c + 3][r]);
}
