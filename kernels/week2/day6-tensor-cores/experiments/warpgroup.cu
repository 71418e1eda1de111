// C = A * B^T with wgmma (sm_90a): 128 threads multiply 64 x 64 x 16 an instruction, straight from shared memory.
#include "hopper.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
#define WAIT 1  // 1: wait for the products before the results are used
#define PROXY 1 // 1: make the threads' stores visible to wgmma, which reads shared memory by another path

extern "C" __global__ void warpgroup(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    __shared__ __align__(1024) unsigned char tiles[2][64 * 128];
    const uint32_t tile_a = shared_address(tiles[0]), tile_b = shared_address(tiles[1]);
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    float d[32]; // 64 x 64 results, 32 for each thread; the first product overwrites them
    for (int start = 0; start < k; start += 64) {
        // Swizzled rows of 128 bytes, as ldmatrix wants them: wgmma reads the same tile.
        copy_rows(tile_a, a, first_row, 64, start, m, k, threadIdx.x, 128);
        copy_rows(tile_b, b, first_column, 64, start, n, k, threadIdx.x, 128);
#if PROXY
        fence_async_shared();
#endif
        __syncthreads();
        //@ multiply
        wgmma_fence();                                        // the accumulators may be used
        wgmma_bf16(d, operand(tile_a), operand(tile_b), start); // four products of 64 x 64 x 16; with 0 the first overwrites d
        wgmma_commit();                                       // these belong together
        //@ end
#if WAIT
        //@ wait
        wgmma_wait<0>(); // until they are done
        //@ end
#endif
        __syncthreads();
    }
    store_slab(d, c, first_row, first_column, m, n);
}
