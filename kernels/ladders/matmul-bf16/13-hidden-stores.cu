// C = A * B^T: results leave while the next tile is multiplied.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = min(ceil_div(m, 64 * CONSUMERS * CLUSTER) * ceil_div(n, TILE_N), 132 / CLUSTER) * CLUSTER
// lockstep: cluster = CLUSTER
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 16) + CONSUMERS * BUFFERS * 8192
//
// Against the rung before: when a tile is done its sums are rounded to bf16 in registers, which takes half of them, and
// the next tile starts at once; the rounded results go out piece by piece between its first steps. The tensor cores no
// longer wait for stores, which was a tenth of the time where k is 1024. Behind the last tile there is no other; its
// pieces go through the stages, which are free by then, and so need not wait for each other. The shape of the tile is
// chosen by macros; rung 16 is for small sizes. The clusters of the rungs before cost more here than they save.
#include "hopper.cuh"

// Multiplying warpgroups, each with 64 rows of the tile.
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef STAGES
#define STAGES 4
#endif
// Blocks of a cluster, one above the other, that share what they load of B: 1 or 2.
#ifndef CLUSTER
#define CLUSTER 1
#endif
// Rows of tiles in a band.
#ifndef GROUP
#define GROUP 16
#endif
// 64 x 64 pieces of the results that each warpgroup can have on their way.
#ifndef BUFFERS
#define BUFFERS 2
#endif

constexpr int TILE_M = 64 * CONSUMERS;
constexpr int STAGE_BYTES = 128 * (TILE_M + TILE_N);
constexpr int PIECES = TILE_N / 64, PIECE_BYTES = 64 * 128; // 64 x 64 results that one copy takes
constexpr int THREADS = 128 * (CONSUMERS + 1);
static_assert(PIECES <= STAGES, "the last tile puts each piece of its results into a stage of its own");

struct Place { int row, column; };

// Where the cluster's tile number `tile` lies: down the columns of a band of GROUP rows of tiles, band after band.
__device__ inline Place place_of(uint32_t tile, uint32_t tiles_m, uint32_t tiles_n)
{
    uint32_t band = tile / (GROUP * tiles_n), inside = tile % (GROUP * tiles_n);
    uint32_t height = least<uint32_t>(GROUP, tiles_m - band * GROUP);
    return {static_cast<int>((band * GROUP + inside % height) * TILE_M * CLUSTER), static_cast<int>(inside / height * TILE_N)};
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), staging = base + STAGES * STAGE_BYTES,
             full = staging + CONSUMERS * BUFFERS * PIECE_BYTES, empty = full + 8 * STAGES;
    int rank = CLUSTER > 1 ? cluster_rank() : 0, cluster = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
    int tiles_m = ceil_div(m, TILE_M * CLUSTER), tiles_n = ceil_div(n, TILE_N), tiles = tiles_m * tiles_n;
    // The same for all lanes of a warp: saying so keeps the addresses of operands in the warp's own (uniform)
    // registers.
    int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0);
    int steps = ceil_div(k, 64);
    // The copy engine wants rows of a multiple of 16 bytes. Otherwise the maps are empty, and threads copy element by
    // element.
    bool boxes = k % 8 == 0;

    // The copy engine reads a map when it is first used: for this one that would be when everyone waits for the last stores.
    if (threadIdx.x == 128) prefetch_map(&c_map);
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 128);
            barrier_init(empty + 8 * s, CONSUMERS * CLUSTER); // the multiplying warpgroups of all blocks
        }
        barrier_init_fence();
    }
    if (CLUSTER > 1) cluster_sync(); // no block may reach for the other's barriers before they are ready
    else __syncthreads();

    if (warpgroup == 0) {
        if (CONSUMERS > 1) give_back_registers<40>();
        int slot = 0, parity = 1; // waiting for the phase before the first does not wait
        // The copy engine needs one thread; the others wait for it at the end.
        for (int tile = boxes && threadIdx.x ? tiles : cluster; tile < tiles; tile += clusters) {
            Place place = place_of(tile, tiles_m, tiles_n);
            int row0 = place.row + rank * TILE_M, column0 = place.column;
            for (int step = 0; step < steps; ++step) {
                uint32_t stage = base + slot * STAGE_BYTES, b_stage = stage + TILE_M * 128, barrier = full + 8 * slot;
                barrier_wait(empty + 8 * slot, parity);
                if (boxes) {
                    barrier_expect(barrier, STAGE_BYTES);
                    load_box(stage, &a_map, barrier, step * 64, row0);
                    // This block's part of B goes to the whole cluster; STAGE_BYTES counts the other block's part too.
                    constexpr int PART = TILE_N / CLUSTER;
                    if (CLUSTER > 1) load_box_to((1 << CLUSTER) - 1, b_stage + rank * PART * 128, &b_map, barrier, step * 64, column0 + rank * PART);
                    else load_box(b_stage, &b_map, barrier, step * 64, column0);
                } else {
                    copy_rows(stage, a, row0, TILE_M, step * 64, m, k, threadIdx.x, 128);
                    copy_rows(b_stage, b, column0, TILE_N, step * 64, n, k, threadIdx.x, 128);
                    fence_async_shared();
                    barrier_arrive(barrier);
                }
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
        }
    } else {
        if (CONSUMERS > 1) take_registers<232>();
        int consumer = warpgroup - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
        float d[TILE_N / 2];
        uint32_t rounded[TILE_N / 4]; // the results of the tile before, in pairs, on their way out
        int rounded_row = 0, rounded_column = 0;
        bool waiting = false;         // there are such results
        int slot = 0, parity = 0;     // the ring goes on from tile to tile
        uint32_t used = 0;            // `empty` of the step before
        uint32_t turn = 0;            // the buffers of `staging` take turns, also from tile to tile

        auto release = [&] {
            if (threadIdx.x % 128 < CLUSTER) { // one thread tells each block
                if (CLUSTER > 1) barrier_arrive_at(used, threadIdx.x % 128);
                else barrier_arrive(used);
            }
        };
        auto multiply = [&](int step) {
            uint32_t stage = base + slot * STAGE_BYTES;
            barrier_wait(full + 8 * slot, parity);
            wgmma_fence();
            wgmma_bf16(d, operand(stage + consumer * 64 * 128), operand(stage + TILE_M * 128), step);
            wgmma_commit();
            wgmma_wait<1>(); // the step before is done: its stage may be filled again
            if (step) release();
            used = empty + 8 * slot;
            if (++slot == STAGES) slot = 0, parity ^= 1;
        };
        // Stores 64 columns of `rounded` by the copy engine. Each warp has 16 of the rows, and waits for no other warp.
        auto store_piece = [&](int piece, bool last) {
            uint32_t buffer = staging + (consumer * BUFFERS + turn) * PIECE_BYTES + warp * 2048;
            turn = (turn + 1) % BUFFERS;
            if (last) { // nothing more is loaded: these rows of A, in a stage for each piece, are this warp's to use
                buffer = base + piece * STAGE_BYTES + (consumer * 4 + warp) * 2048;
            } else {
                if (lane == 0) store_wait_read<BUFFERS - 1>(); // what this buffer held before has left it
                __syncwarp();
            }
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) { // 16 columns: two pieces of 16 bytes in each row
                const uint32_t* v = rounded + piece * 16 + pair * 4;
                store_matrices(buffer + swizzled(lane % 16, pair * 2 + lane / 16), v[0], v[1], v[2], v[3]);
            }
            fence_async_shared();
            __syncwarp();
            if (lane == 0) {
                int row = rounded_row + warp * 16, column = rounded_column + piece * 64;
                if (row < m && column < n) store_box(&c_map, buffer, column, row);
                store_commit(); // also when empty, so that counting groups counts pieces
            }
        };

        // What TILE_N has beyond whole pieces is stored by the threads.
        auto store_rest = [&] {
#pragma unroll
            for (int i = PIECES * 16; i < TILE_N / 4; i += 2) {
                int row = rounded_row + warp * 16 + lane / 4, column = rounded_column + i * 4 + lane % 4 * 2;
                store_rounded(c, row, column, m, n, rounded[i]);
                store_rounded(c, row + 8, column, m, n, rounded[i + 1]);
            }
        };

        for (int tile = cluster; tile < tiles; tile += clusters) {
            Place place = place_of(tile, tiles_m, tiles_n);
            int row = place.row + rank * TILE_M + consumer * 64, column = place.column, step = 0;
            if (waiting) {
#pragma unroll
                for (int piece = 0; piece < PIECES; ++piece) {
                    if (step < steps) multiply(step++);
                    store_piece(piece, false);
                }
                store_rest();
            }
#pragma unroll 1
            while (step < steps) multiply(step++);
            wgmma_wait<0>();
            release();
            if (n % 8 == 0) {
#pragma unroll
                for (int i = 0; i < TILE_N / 4; ++i) rounded[i] = pack_bf16(d[2 * i], d[2 * i + 1]);
                rounded_row = row, rounded_column = column, waiting = true;
            } else {
                store_slab(d, c, row, column, m, n);
            }
        }
        if (waiting) {
#pragma unroll
            for (int piece = 0; piece < PIECES; ++piece) store_piece(piece, true);
            store_rest();
        }
        store_wait_read<0>(); // before this block's shared memory goes away
    }
    if (CLUSTER > 1) cluster_sync(); // a block's shared memory must outlive what the other one sends there
}
