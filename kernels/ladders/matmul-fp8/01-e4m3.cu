// C = scale * A * B^T in e4m3 on Hopper: the bf16 kernel with elements of one byte.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = 132
// lockstep: cluster = CLUSTER
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 32) + CONSUMERS * BUFFERS * 8192
//
// A is m x k, B is n x k, row-major e4m3; C is m x n bf16; `scale` is the product of the scales of A and B. wgmma takes
// 32 of K where bf16 has 16, in the same bytes and the same time, and wants K along the rows of both operands. All else
// is the last rung of the bf16 ladder, which product.cuh holds: a producer, two multiplying warpgroups, blocks that stay,
// stores that leave behind the next tile's products, tiles of two widths.
//
// Hopper adds e4m3 products with fewer bits than fp32 (about 14 of the fraction); cuBLASLt does the same with fast
// accumulation, which is what this rung is timed against. The next rung shows what full sums cost.
//
// Where k is not a multiple of 16 the copy engine cannot read the rows, and threads copy them element by element: 4096 x
// 4096 x 4095 takes 1.74 ms, 19 times as long as 4096 x 4096 x 4096. cuBLASLt has no algorithm for it. Rung 3 mends it.
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
       const uint8_t* a, const uint8_t* b, uint16_t* c, int m, int n, int k, float scale)
{
    product(a_map, b_map, c_map, a, b, c, m, n, k, scale);
}
