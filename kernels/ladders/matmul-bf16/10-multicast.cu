// C = A * B^T: two blocks share what they load.
//
// lockstep: block = 384
// lockstep: grid = min(ceil_div(m, 256) * ceil_div(n, 256), 66) * 2
// lockstep: cluster = 2
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16)
//
// Against the rung before: two neighboring multiprocessors form a cluster and make two tiles one above the other, with
// the same columns of B. Each loads its own rows of A and half the rows of B, and the copy engine delivers that half to
// both (multicast): 32 KiB a step from L2 instead of 48. A buffer is now empty when the warpgroups of both blocks have
// read it.
#include "hopper.cuh"

#define TILE_M 128
#define TILE_N 256
#define STAGE_BYTES 49152
#define STAGES 4
constexpr int CLUSTER = 2;

extern "C" __global__ void __launch_bounds__(384, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), full = base + STAGES * STAGE_BYTES, empty = full + 8 * STAGES;
    int rank = cluster_rank(), cluster = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
    int tiles_m = ceil_div(m, TILE_M * CLUSTER), tiles = tiles_m * ceil_div(n, TILE_N); // of 256 x 256, a cluster's
    int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0);
    int steps = ceil_div(k, 64);
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 128);
            barrier_init(empty + 8 * s, 2 * CLUSTER); // the multiplying warpgroups of both blocks
        }
        barrier_init_fence();
    }
    cluster_sync(); // no block may reach for the other's barriers before they are ready

    if (warpgroup == 0) {
        give_back_registers<40>();
        int slot = 0, parity = 1; // waiting for the phase before the first does not wait
        // The copy engine needs one thread; the others wait for it at the end.
        for (int tile = boxes && threadIdx.x ? tiles : cluster; tile < tiles; tile += clusters) {
            int row0 = (tile % tiles_m * CLUSTER + rank) * TILE_M, column0 = tile / tiles_m * TILE_N;
            for (int step = 0; step < steps; ++step) {
                uint32_t stage = base + slot * STAGE_BYTES, barrier = full + 8 * slot;
                barrier_wait(empty + 8 * slot, parity);
                if (boxes) {
                    barrier_expect(barrier, STAGE_BYTES);
                    load_box(stage, &a_map, barrier, step * 64, row0);
                    // This half of B goes to both blocks; STAGE_BYTES counts the other block's half too.
                    load_box_to(3, stage + (TILE_M + rank * TILE_N / 2) * 128, &b_map, barrier, step * 64, column0 + rank * TILE_N / 2);
                } else {
                    copy_rows(stage, a, row0, TILE_M, step * 64, m, k, threadIdx.x, 128);
                    copy_rows(stage + TILE_M * 128, b, column0, TILE_N, step * 64, n, k, threadIdx.x, 128);
                    fence_async_shared();
                    barrier_arrive(barrier);
                }
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
        }
    } else {
        take_registers<232>();
        float d[TILE_N / 2];
        int slot = 0, parity = 0; // the ring goes on from tile to tile
        for (int tile = cluster; tile < tiles; tile += clusters) {
            uint32_t used = 0; // `empty` of the step before
#pragma unroll 1
            for (int step = 0; step < steps; ++step) {
                uint32_t stage = base + slot * STAGE_BYTES;
                barrier_wait(full + 8 * slot, parity);
                wgmma_fence();
                wgmma_bf16(d, operand(stage + (warpgroup - 1) * 64 * 128), operand(stage + TILE_M * 128), step);
                wgmma_commit();
                wgmma_wait<1>();
                if (step && threadIdx.x % 128 < CLUSTER) barrier_arrive_at(used, threadIdx.x % 128); // one thread tells each block
                used = empty + 8 * slot;
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
            wgmma_wait<0>();
            if (threadIdx.x % 128 < CLUSTER) barrier_arrive_at(used, threadIdx.x % 128);
            store_slab(d, c, (tile % tiles_m * CLUSTER + rank) * TILE_M + (warpgroup - 1) * 64, tile / tiles_m * TILE_N, m, n);
        }
    }
    cluster_sync(); // a block's shared memory must outlive what the other one sends there
}
