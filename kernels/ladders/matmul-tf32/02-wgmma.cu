// C = A * B^T in tf32 on Hopper: the bf16 kernel with elements of four bytes.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = 132
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 32)
//
// A is m x k, B is n x k, C is m x n, row-major floats. wgmma takes 8 of K where bf16 has 16, in the same bytes and the same time. All
// else is the last rung of the bf16 ladder, which product.cuh holds: a producer, two multiplying warpgroups, blocks that stay,
// tiles of two widths. Only results leave at once, straight from registers: while they are floats, those of one tile and the
// sums of the next do not fit into the registers together.
//
// wgmma reads its operands from shared memory, where no thread can round them on the way. With a tensor map of plain floats it
// cuts off what tf32 has no room for; with one of the type tf32 the copy engine rounds, to nearest even, while it copies. Both are
// in the ladder; rounding costs nothing there.
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef GROUP
#define GROUP 16
#endif
#ifndef WIDTHS
#define WIDTHS 2
#endif
#define CLUSTER 1
#define BUFFERS 0
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint32_t* a, const uint32_t* b, float* c,
       int m, int n, int k)
{
    product(a_map, b_map, a_map, a, b, c, m, n, k, 1.0f);
}
