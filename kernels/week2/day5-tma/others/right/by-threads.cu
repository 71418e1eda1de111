// Every thread copies 16 bytes, as on day 4 of week 1.
// does not reach: No thread moves a float
// does not reach: As fast as a copy
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(columns, 1024), rows
extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    int column = 4 * (blockIdx.x * 256 + threadIdx.x);
    if (column < columns) {
        long long at = (long long)blockIdx.y * columns + column;
        *(float4*)(y + at) = *(const float4*)(x + at);
    }
}
