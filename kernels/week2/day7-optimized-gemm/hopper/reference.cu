// C = A * B^T: blocks that stay for tile after tile, tiles of two widths, and results that leave behind the next tile's products.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = 132
// lockstep: cluster = CLUSTER
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 32) + CONSUMERS * BUFFERS * 8192
//
// It is rung 14 of the ladder matmul-bf16. The roles are those of the exercise: one warpgroup copies, two multiply. New are
// a block for each multiprocessor that goes on from tile to tile, so that the ring never runs dry between two of them; an
// epilogue through shared memory and TMA, which stores while the next tile is multiplied; and a cut of C that gives all
// blocks the same work. The kernel itself is in product.cuh, which the e4m3 and tf32 ladders include as well.
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef GROUP
#define GROUP 16
#endif
#ifndef WIDTHS
#define WIDTHS 2
#endif
#ifndef CLUSTER
#define CLUSTER 1
#endif
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    product(a_map, b_map, c_map, a, b, c, m, n, k, 1.0f);
}
