#include "tma.cuh"

// C = A * B by tiles of 32 x 32, in clusters of two blocks that are neighbors in a row of tiles. Both need the same tile of A.
// With MULTICAST 1 each block orders one half of it, for both blocks. With 0 each block orders all of it for itself.
// lockstep: block = 128
// lockstep: grid = round_up(ceil_div(n, 32), 2), ceil_div(m, 32)
#define MULTICAST 1

extern "C" __global__ void matmul(const float* a, const float* b, float* c, const __grid_constant__ CUtensorMap a_map,
                                  const __grid_constant__ CUtensorMap b_map, int m, int n, int k)
{
    __shared__ __align__(128) float tile_a[2][16][32]; // two halves of 16 rows
    __shared__ __align__(128) float tile_b[32][32];
    __shared__ uint64_t full;
    const uint32_t barrier = shared_address(&full), rank = cluster_rank();
    const int first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    float sum[8] = {};

    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
    }
    cluster_sync();
    for (int start = 0; start < k; start += 32) {
        if (threadIdx.x == 0) {
            barrier_expect(barrier, sizeof(tile_a) + sizeof(tile_b));
            //@ order
#if MULTICAST
            // This block's half, delivered to blocks 0 and 1 of the cluster (bits 0 and 1 of 3), at the same place in each.
            load_box_to(3, shared_address(tile_a[rank]), &a_map, barrier, start, first_row + 16 * rank);
#else
            load_box(shared_address(tile_a[0]), &a_map, barrier, start, first_row);
            load_box(shared_address(tile_a[1]), &a_map, barrier, start, first_row + 16);
#endif
            //@ end
            load_box(shared_address(tile_b), &b_map, barrier, first_column, start);
        }
        barrier_wait(barrier, start / 32 % 2);
        for (int d = 0; d < 32; d++) {
            for (int i = 0; i < 8; i++) {
                sum[i] += tile_a[i / 4][y + 4 * (i % 4)][d] * tile_b[d][x];
            }
        }
        cluster_sync(); // nobody in either block reads these tiles any more
    }
    for (int i = 0; i < 8; i++) {
        const int row = first_row + 16 * (i / 4) + y + 4 * (i % 4), column = first_column + x;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }
}
