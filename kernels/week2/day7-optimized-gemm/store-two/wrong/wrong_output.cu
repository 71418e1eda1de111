// Puts the right neighbor into the low half.
#include "mma.cuh"

extern "C" __global__ void store_two(const float* x, uint16_t* y, int rows, int columns)
{
    const int row = blockIdx.y;
    const int column = 2 * (blockIdx.x * 64 + threadIdx.x);
    if (column >= columns) return;
    const float left = x[row * columns + column];
    const float right = column + 1 < columns ? x[row * columns + column + 1] : 0.0f;
    const uint32_t two = pack_bf16(right, left); // left in the low half
    uint16_t* to = y + row * columns + column;

    if (columns % 2 == 0) {
        *reinterpret_cast<uint32_t*>(to) = two;
    } else {
        to[0] = static_cast<uint16_t>(two);
        if (column + 1 < columns) to[1] = static_cast<uint16_t>(two >> 16);
    }
}
