// C = A * B^T: the copy engine stores, too.
//
// lockstep: block = 384
// lockstep: grid = min(ceil_div(m, 256) * ceil_div(n, 256), 66) * 2
// lockstep: cluster = 2
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16) + 2 * STAGING_BYTES
//
// Against the rung before: results go to shared memory with stmatrix (swizzled, without bank conflicts), and the copy
// engine carries them away in whole lines of 128 bytes while the warpgroup begins its next tile. Each warp stores its
// own 16 rows, 64 columns at a time through two buffers, and waits for no other warp.
#include "hopper.cuh"

#define TILE_M 128
#define TILE_N 256
#define STAGE_BYTES 49152
#define STAGES 4
constexpr int CLUSTER = 2;
#define STAGING_BYTES 16384 // of one warpgroup: two buffers of 64 x 64 results

// The 64 x 256 results of one warpgroup to c by the copy engine. Each warp has 16 of the rows of both buffers.
template <int COUNT>
__device__ inline void store_boxes(const float (&d)[COUNT], uint32_t staging, const CUtensorMap* c_map, int row, int column, int m, int n)
{
    int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    row += warp * 16;
#pragma unroll
    for (int chunk = 0; chunk < COUNT / 32; ++chunk) {
        uint32_t buffer = staging + chunk % 2 * 8192 + warp * 2048;
        if (lane == 0) store_wait_read<1>(); // what this buffer held two chunks ago has left it
        __syncwarp();
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) { // 16 columns: two pieces of 16 bytes in each row
            const float* v = d + chunk * 32 + pair * 8;
            store_matrices(buffer + swizzled(lane % 16, pair * 2 + lane / 16), pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]),
                           pack_bf16(v[4], v[5]), pack_bf16(v[6], v[7]));
        }
        fence_async_shared();
        __syncwarp();
        if (lane == 0) {
            if (row < m && column + chunk * 64 < n) store_box(c_map, buffer, column + chunk * 64, row);
            store_commit(); // also when empty, so that counting groups counts chunks
        }
    }
}

extern "C" __global__ void __launch_bounds__(384, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), staging = base + STAGES * STAGE_BYTES,
             full = staging + 2 * STAGING_BYTES, empty = full + 8 * STAGES;
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
            int row = (tile % tiles_m * CLUSTER + rank) * TILE_M + (warpgroup - 1) * 64, column = tile / tiles_m * TILE_N;
            if (n % 8 == 0) store_boxes(d, staging + (warpgroup - 1) * STAGING_BYTES, &c_map, row, column, m, n);
            else store_slab(d, c, row, column, m, n);
        }
        store_wait_read<0>(); // before this block's shared memory goes away
    }
    cluster_sync(); // a block's shared memory must outlive what the other one sends there
}
