// C = A * B^T in tf32: rows of any length, through a copy that begins at multiples of 16 bytes.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = 132
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 32)
//
// Against the rung before: where k is not a multiple of 4, the blocks first copy A and B together to rows that begin at
// multiples of 16 bytes, in memory that the caller provides, and then multiply the copies, as the last rung of the bf16
// ladder explains. 4096 x 4096 x 4095 takes 456 us on an H200, 1.33 times as long as 4096 x 4096 x 4096; cuBLASLt takes 1014 us.
#define CONSUMERS 2
#define TILE_N 256
#define STAGES 4
#define BUFFERS 0
#define GROUP 16
#define WIDTHS 2
#define CLUSTER 1
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap a_even_map,
       const __grid_constant__ CUtensorMap b_even_map, const uint32_t* a, const uint32_t* b, float* c, uint32_t* a_even, uint32_t* b_even,
       int m, int n, int k)
{
    bool odd = k % 4 != 0;
    if (odd) repack(a, a_even, m, b, b_even, n, k);
    product(odd ? a_even_map : a_map, odd ? b_even_map : b_map, a_map, a, b, c, m, n, round_up(k, 4), 1.0f);
}
