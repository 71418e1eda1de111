// Without the padding: right, and the loads of a column meet in one bank.
// does not reach: As few conflicts as padding allows
#include "lab.cuh"

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ __align__(16) float tile[32][32];
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    const int r = threadIdx.y, c = 4 * threadIdx.x;

    *reinterpret_cast<float4*>(&tile[r][c]) =
        *reinterpret_cast<const float4*>(&x[(row0 + r) * columns + column0 + c]);
    __syncthreads();
    *reinterpret_cast<float4*>(&y[(column0 + r) * rows + row0 + c]) =
        make_float4(tile[c][r], tile[c + 1][r], tile[c + 2][r], tile[c + 3][r]);
}
