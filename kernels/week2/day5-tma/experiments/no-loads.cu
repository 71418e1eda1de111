#include "tma.cuh"

// y = x, one box of 32 x 64 floats for each block. One thread gives two orders and waits; that is all.
// lockstep: block = 32
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 32)

extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map,
                                const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float box[32][64];
    __shared__ uint64_t full;
    if (threadIdx.x != 0) {
        return;
    }
    const uint32_t tile = shared_address(box), barrier = shared_address(&full);
    const int column = blockIdx.x * 64, row = blockIdx.y * 32;

    //@ load
    barrier_init(barrier, 1);
    barrier_init_fence();
    barrier_expect(barrier, sizeof(box));          // one arrival, and this many bytes to come
    load_box(tile, &x_map, barrier, column, row);  // x first: the column, then the row
    barrier_wait(barrier, 0);                      // arrived, and all bytes have landed
    //@ end

    //@ store
    store_box(&y_map, tile, column, row);
    store_commit();
    store_wait_read<0>(); // shared memory has been read; only now may the block end
    //@ end
}
