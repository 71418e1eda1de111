// C = A * B^T: rows of any length, through a copy that begins at multiples of 16 bytes.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = 132
// lockstep: cluster = CLUSTER
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 32) + CONSUMERS * BUFFERS * 8192
//
// Against the rung before: where k is not a multiple of 8, the blocks first copy A and B together to rows that begin at
// multiples of 16 bytes, in memory that the caller provides, and then multiply the copies. The copy engine takes zeros
// for what lies behind k, so that the copies' ends need no care. Where k is a multiple of 8, nothing is copied and this
// is the rung before. repack() in product.cuh says how all blocks wait for each other without being there at the same
// time.
//
// The price on an H200, as times of 4096 x 4096 x 4096 (172 us): k = 4095 or 4094 1.38, where copying element by
// element took 17; n = 4095 1.15, for rows of C that the copy engine cannot store; 4095 x 4093 x 4091, where all of
// this comes together, 1.53. cuBLASLt's best algorithm takes 4.4, 2.2, 6.6 and 3.8 times as long as this. 4095 x 4097 x
// 4099 takes 2.40: 17 columns of tiles are a turn more. The copies need 67 MB here, as much as A and B.
#define CONSUMERS 2
#define TILE_N 256
#define STAGES 4
#define BUFFERS 2
#define GROUP 16
#define WIDTHS 2
#define CLUSTER 1
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const __grid_constant__ CUtensorMap a_even_map, const __grid_constant__ CUtensorMap b_even_map, const uint16_t* a,
       const uint16_t* b, uint16_t* c, uint16_t* a_even, uint16_t* b_even, int m, int n, int k)
{
    bool odd = k % 8 != 0;
    if (odd) repack(a, a_even, m, b, b_even, n, k);
    product(odd ? a_even_map : a_map, odd ? b_even_map : b_map, c_map, a, b, c, m, n, round_up(k, 8), 1.0f);
}
