// C = A * B^T: Hopper's warpgroup instruction, fed by the copy engine.
//
// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
// lockstep: dynamic_shared_bytes = STAGE_BYTES + 8
//
// Against the rung before: wgmma takes both operands from shared memory, so no thread loads a fragment, and one
// instruction of a warpgroup (four warps) multiplies 64 x 128 x 16. One thread asks the copy engine (TMA) for a whole
// box of 128 rows; it comes swizzled and counted by an mbarrier. Copies and products take turns here, and only the
// blocks that share a multiprocessor hide that from each other; it is a little faster than the rung before all the same.
#include "hopper.cuh"

#define TILE_M 128
#define TILE_N 128
#define STAGE_BYTES 32768 // (TILE_M + TILE_N) rows of 128 bytes

extern "C" __global__ void __launch_bounds__(128)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t a_tile = shared_address(shared), b_tile = a_tile + TILE_M * 128, landed = a_tile + STAGE_BYTES;
    int tiles_m = ceil_div(m, TILE_M);
    int row0 = blockIdx.x % tiles_m * TILE_M, column0 = blockIdx.x / tiles_m * TILE_N;
    // The copy engine wants rows of a multiple of 16 bytes. Otherwise the maps are empty, and threads copy element by
    // element.
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        barrier_init(landed, 1);
        barrier_init_fence();
    }
    __syncthreads();

    float d[2][TILE_N / 2];
    int parity = 0;
#pragma unroll 1
    for (int x = 0; x < k; x += 64) {
        if (boxes) {
            if (threadIdx.x == 0) {
                barrier_expect(landed, STAGE_BYTES);
                load_box(a_tile, &a_map, landed, x, row0);
                load_box(b_tile, &b_map, landed, x, column0);
            }
            barrier_wait(landed, parity);
            parity ^= 1;
        } else {
            copy_rows(a_tile, a, row0, TILE_M, x, m, k, threadIdx.x, 128);
            copy_rows(b_tile, b, column0, TILE_N, x, n, k, threadIdx.x, 128);
            fence_async_shared();
            __syncthreads();
        }
        wgmma_fence();
        wgmma_bf16(d[0], operand(a_tile), operand(b_tile), x);
        wgmma_bf16(d[1], operand(a_tile + 64 * 128), operand(b_tile), x);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // all four warps are through with the tiles
    }
    store_slab(d[0], c, row0, column0, m, n);
    store_slab(d[1], c, row0 + 64, column0, m, n);
}
