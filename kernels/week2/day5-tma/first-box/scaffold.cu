#include "tma.cuh"

// y = x, 32 x 32 floats a block. The copy engine fetches the box; the threads store it as always.
// lockstep: block = 256
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)

extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, int rows, int columns)
{
    __shared__ __align__(128) float box[32][32];
    __shared__ uint64_t full;
    const uint32_t barrier = shared_address(&full);
    const int first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;

    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        // TODO 1: announce the bytes of one box.
        barrier_expect(barrier, 0);

        load_box(shared_address(box), &x_map, barrier, first_column, first_row);
    }

    // TODO 2: wait for the box, all of you.

    for (int i = threadIdx.x; i < 32 * 32; i += 256) {
        const int row = first_row + i / 32, column = first_column + i % 32;
        if (row < rows && column < columns) {
            y[row * columns + column] = box[i / 32][i % 32];
        }
    }
}
