// C = A * B^T: tiles of two widths, so that the blocks end together.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = 132
// lockstep: cluster = CLUSTER
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 32) + CONSUMERS * BUFFERS * 8192
//
// Against the rung before: C is cut so that the blocks end together. 4096 x 4096 outputs are 512 tiles of 128 x 256, and
// 132 blocks need four turns for them; in the last one 16 blocks have nothing to do. Here half of the bands have 17 tiles
// for 16, of 240 columns and one of 256, which makes 528 tiles, four for each block. 11008 columns are 45 tiles of 240 and
// 256 a band where 43 of 256 left most of an eleventh turn empty. wgmma takes any multiple of 8 as its width; with
// multiples of 16 two tiles never write into the same 32-byte sector of C (with 8, k = 1024 was 4 % slower). Where a
// tile lies is worked out by the producer and travels with the tile's first stage, as the others have no registers left.
// The kernel is in product.cuh, which the e4m3 ladder includes as well.
//
// Any m, n and k work. Where k is not a multiple of 8, rows do not begin at multiples of 16 bytes and the copy engine
// cannot read them: the producer's threads copy element by element, and 4096 x 4096 x 4095 takes 17 times as long as
// 4096 x 4096 x 4096 (2.93 ms; cuBLASLt 1.06 ms, 6 times), which the next rung mends. Where n is not a multiple of 8,
// rows of C begin anywhere and the warps store them, 4 bytes a lane. For small sizes there is rung 16.
//
// New too: the thread that copies makes the barriers and loads at once, before the block has come together.
//
// Against cuBLASLt's best algorithm this is 1.05 at 4096 x 4096 x 4096. Power bounds it; README.md of the ladders has the
// clocks of both, what was tried, and the weaker shapes.
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
