#include "mma.cuh"

// y = x transposed, 32 x 32 elements a block. Each thread starts one copy of 16 bytes, and later reads elements that other
// threads copied. x has `columns` elements a row, a multiple of 4.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    // 36 floats a row: 32, and 4 more, so that rows start at multiples of 16 bytes and columns spread over the banks.
    __shared__ __align__(16) float tile[32][36];
    const int first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;

    // 32 rows of 8 pieces: one piece for each of the 256 threads.
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int row = thread / 8, column = thread % 8 * 4;
    const bool inside = first_row + row < rows && first_column + column < columns;
    const float* from = inside ? x + (first_row + row) * columns + first_column + column : x;
    copy_async(shared_address(&tile[row][column]), from, inside ? 16 : 0);
    copy_commit();

    copy_wait<0>();
    __syncthreads();

    for (int i = threadIdx.y; i < 32; i += 8) {
        if (first_column + i < columns && first_row + threadIdx.x < rows) {
            y[(first_column + i) * rows + first_row + threadIdx.x] = tile[threadIdx.x][i];
        }
    }
}
