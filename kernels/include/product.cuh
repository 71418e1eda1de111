// product.cuh: C = A * B^T on Hopper, as a kernel of any operand type runs it: the common part of the last rungs of the ladders
// matmul-bf16, matmul-fp8 and matmul-tf32. Behind it, repack(), for operands whose rows the copy engine cannot read.
//
// A is m x k, B is n x k, row-major; C is m x n bf16, or floats where the operands are floats. One warpgroup copies, CONSUMERS
// warpgroups multiply 64 rows of a tile each, and blocks stay for tile after tile, whose results leave behind the next tile's
// products: rung 13 of matmul-bf16, which explains these parts. New here is that tiles come in two widths. The file that includes
// this one says, as macros:
//   CONSUMERS   multiplying warpgroups, each with 64 rows of the tile
//   TILE_N      columns of a wide tile, a multiple of 64 up to 256
//   STAGES      128 bytes of K of a tile of A and of B, as many as are on their way or in use at a time
//   BUFFERS     64 x 64 pieces of the results that each warpgroup can have on their way (0 for tf32)
//   GROUP       rows of tiles in a group (rung 12)
//   WIDTHS      2, or 1 for tiles of TILE_N columns only
//   CLUSTER     blocks of a cluster, one above the other, that share what they load of B (rung 10), or 1
// and calls product<Element>(...) with the element as uint16_t (bf16), uint8_t (e4m3) or uint32_t (floats, multiplied in tf32).
// Launched with 128 * (CONSUMERS + 1) threads a block, 132 blocks (one a multiprocessor of an H100 or H200), and SHARED_BYTES of
// dynamic shared memory.
#pragma once
#include "hopper.cuh"

constexpr int TILE_M = 64 * CONSUMERS;
constexpr int NARROW = TILE_N - 16;
constexpr int STAGE_BYTES = 128 * (TILE_M + TILE_N);
constexpr int PIECES = TILE_N / 64, PIECE_BYTES = 64 * 128; // 64 x 64 results that one copy takes
constexpr int THREADS = 128 * (CONSUMERS + 1);
// Stages, two barriers and a Place for each, and the pieces of the results.
constexpr int SHARED_BYTES = STAGES * (STAGE_BYTES + 32) + CONSUMERS * BUFFERS * PIECE_BYTES;
static_assert(PIECES <= STAGES, "the last tile puts each piece of its results into a stage of its own");
static_assert(SHARED_BYTES <= 227 * 1024, "a block has no more shared memory");

// Where the cluster's tile lies, its columns, and whether it is the block's last one.
struct Place { int row, column, width, last; };

// How C is cut. With tiles of one width, 4096 x 4096 outputs are 512 of 128 x 256: 132 blocks need four turns, in the last of which
// 16 have nothing to do. Four turns are places for 528 tiles; so half of the bands of 128 rows get a tile more, and the tiles of a
// band are made as even as multiples of 16 columns allow.
struct Cut {
    uint32_t bands, across, longer, tiles, columns; // `longer` bands of across + 1 tiles, then bands of `across`

    __device__ Cut(int m, int n, uint32_t clusters)
    {
        columns = n;
        bands = ceil_div(m, TILE_M * CLUSTER);
        across = ceil_div(n, TILE_N);
        longer = 0;
        uint32_t places = ceil_div(bands * across, clusters) * clusters, most = ceil_div(n, 16) / (NARROW / 16);
        if (WIDTHS == 1) {
            // one width: nothing to spread
        } else if (places / bands < most) {
            across = places / bands;
            longer = places % bands;
        } else {
            across = greatest(across, most); // a tile narrower than NARROW costs more than it saves
        }
        tiles = bands * across + longer;
    }

    // Down the columns of a group of GROUP bands, group after group; no group has bands of both kinds.
    __device__ Place place_of(uint32_t tile) const
    {
        uint32_t here = across + 1, first = 0, count = longer;
        if (tile >= longer * here) {
            tile -= longer * here;
            first = longer, count = bands - longer, here = across;
        }
        uint32_t group = tile / (GROUP * here), inside = tile % (GROUP * here);
        uint32_t height = least<uint32_t>(GROUP, count - group * GROUP), x = inside / height;
        int row = (first + group * GROUP + inside % height) * TILE_M * CLUSTER;
        // In units of 16 columns: `wide` tiles of one unit more than the others come first.
        uint32_t units = ceil_div<uint32_t>(columns, 16), narrow = units / here, wide = units % here;
        if (WIDTHS == 1 || narrow < NARROW / 16 || narrow >= TILE_N / 16) return {row, static_cast<int>(x * TILE_N), TILE_N, 0};
        return {row, static_cast<int>(x * narrow + least(x, wide)) * 16, static_cast<int>(narrow + (x < wide)) * 16, 0};
    }
};

// The last parameter says what the operands hold.
template <int COUNT>
__device__ inline void multiply_step(float (&d)[COUNT], uint64_t a, uint64_t b, int add, uint16_t)
{
    wgmma_bf16(d, a, b, add);
}

template <int COUNT>
__device__ inline void multiply_step(float (&d)[COUNT], uint64_t a, uint64_t b, int add, uint8_t)
{
    wgmma_e4m3(d, a, b, add);
}

template <int COUNT>
__device__ inline void multiply_step(float (&d)[COUNT], uint64_t a, uint64_t b, int add, uint32_t)
{
    wgmma_tf32(d, a, b, add);
}

// What the elements of C are: bf16, but floats where the operands are floats.
template <typename Element>
struct ResultOf { using Type = uint16_t; };
template <>
struct ResultOf<uint32_t> { using Type = float; };

// What a thread of a multiplying warpgroup knows.
template <typename Element>
struct Multiplier {
    using Result = typename ResultOf<Element>::Type;
    // Unrounded sums of a tile and those of the next are more than the registers hold: such results leave at once, and their rows
    // of 8 bytes a thread fill whole sectors.
    static constexpr bool LEAVE_AT_ONCE = sizeof(Result) == 4;
    uint32_t base, staging, full, empty;
    int consumer, warp, lane;
    int m, n, steps;
    float scale;
    const CUtensorMap* c_map;
    Result* c;
    float d[TILE_N / 2];
    uint32_t rounded[TILE_N / 4]; // the results of the tile before, in pairs, on their way out
    int rounded_row = 0, rounded_column = 0, rounded_width = 0;
    bool waiting = false;         // there are such results
    int slot = 0, parity = 0;     // the ring goes on from tile to tile
    uint32_t used = 0;            // `empty` of the step before
    uint32_t turn = 0;            // the buffers of `staging` take turns, also from tile to tile

    __device__ void release()
    {
        if (threadIdx.x % 128 < CLUSTER) { // one thread tells each block
            if (CLUSTER > 1) barrier_arrive_at(used, threadIdx.x % 128);
            else barrier_arrive(used);
        }
    }

    // Stores 64 columns of `rounded`. Each warp has 16 of the rows, and waits for no other warp.
    __device__ void store_piece(int piece, bool last)
    {
        uint32_t buffer = staging + (consumer * BUFFERS + turn) * PIECE_BYTES + warp * 2048;
        if (++turn == BUFFERS) turn = 0;
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
        int row = rounded_row + warp * 16;
        int column = rounded_column + (piece == PIECES - 1 ? rounded_width - 64 : piece * 64);
        if (n % 8 == 0) {
            fence_async_shared();
            __syncwarp();
            if (lane == 0) {
                if (row < m && column < n) store_box(c_map, buffer, column, row);
                store_commit(); // also when empty, so that counting groups counts pieces
            }
        } else {
            __syncwarp();
            store_rows(buffer, row, column);
        }
    }

    // 16 rows of 64 results from `buffer`, by the warp, where the copy engine cannot store: rows of C begin anywhere. A lane has two
    // neighbors of a row, and stores 4 bytes at a multiple of 4: where the row begins at an odd element, its second of the lane
    // before and its own first.
    __device__ void store_rows(uint32_t buffer, int row, int column)
    {
#pragma unroll 2
        for (int r = 0; r < 16; ++r) {
            int64_t begin = static_cast<int64_t>(row + r) * n + column;
            int odd = begin & 1, x = column + 2 * lane - odd;
            uint32_t pair;
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(pair) : "r"(buffer + swizzled(r, lane / 4) + lane % 4 * 4) : "memory");
            uint32_t before = __shfl_up_sync(FULL_MASK, pair, 1), both = odd ? __funnelshift_l(before, pair, 16) : pair;
            if (row + r >= m) continue;
            uint16_t* to = c + begin + 2 * lane - odd;
            if (x >= column && x + 1 < n) *reinterpret_cast<uint32_t*>(to) = both;
            else if (x >= column && x < n) to[0] = static_cast<uint16_t>(both);
            else if (x < column && x + 1 < n) to[1] = static_cast<uint16_t>(both >> 16);
            if (odd && lane == 31 && column + 63 < n) to[2] = static_cast<uint16_t>(pair >> 16);
        }
        __syncwarp(); // before the buffer is written again
    }

    // One tile of WIDTH columns, and the results of the one before between its first steps.
    template <int WIDTH>
    __device__ void make(int row, int column)
    {
        float(&sums)[WIDTH / 2] = reinterpret_cast<float(&)[WIDTH / 2]>(d);
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            uint32_t stage = base + slot * STAGE_BYTES;
            barrier_wait(full + 8 * slot, parity);
            wgmma_fence();
            multiply_step(sums, operand(stage + consumer * 64 * 128), operand(stage + TILE_M * 128), step, Element());
            wgmma_commit();
            wgmma_wait<1>(); // the step before is done: its stage may be filled again
            if (step) release();
            used = empty + 8 * slot;
            if (++slot == STAGES) slot = 0, parity ^= 1;
            if constexpr (!LEAVE_AT_ONCE) {
                if (waiting && step < PIECES) {
#pragma unroll
                    for (int piece = 0; piece < PIECES; ++piece)
                        if (step == piece) store_piece(piece, false);
                }
            }
        }
        wgmma_wait<0>();
        release();
        if (sizeof(Element) == 1) {
#pragma unroll
            for (int i = 0; i < WIDTH / 2; ++i) sums[i] *= scale;
        }
        if constexpr (LEAVE_AT_ONCE) {
            store_slab(sums, c, row, column, m, n);
        } else {
            // The last piece ends where the tile does, and brings some columns of the one before a second time.
#pragma unroll
            for (int i = 0; i < TILE_N / 4; ++i) {
                int from = i < TILE_N / 4 - 16 ? 2 * i : 2 * i - (TILE_N - WIDTH) / 2;
                rounded[i] = pack_bf16(sums[from], sums[from + 1]);
            }
            rounded_row = row, rounded_column = column, rounded_width = WIDTH, waiting = true;
        }
    }
};

template <typename Element>
__device__ void product(const CUtensorMap& a_map, const CUtensorMap& b_map, const CUtensorMap& c_map, const Element* a, const Element* b,
                        typename ResultOf<Element>::Type* c, int m, int n, int k, float scale)
{
    constexpr int K_STEP = 128 / sizeof(Element);
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), staging = base + STAGES * STAGE_BYTES,
             full = staging + CONSUMERS * BUFFERS * PIECE_BYTES, empty = full + 8 * STAGES, places = empty + 8 * STAGES;
    int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0);
    int steps = ceil_div(k, K_STEP);
    // The copy engine wants rows of a multiple of 16 bytes. Otherwise the maps are empty, and threads copy element by element.
    bool boxes = k * sizeof(Element) % 16 == 0;
    int rank = CLUSTER > 1 ? cluster_rank() : 0, cluster = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
    Cut cut(m, n, clusters);
    int tiles = cut.tiles;

    // One step of a tile into a stage, by the copy engine.
    auto load = [&](const Place& place, int step, int slot) {
        uint32_t stage = base + slot * STAGE_BYTES, b_stage = stage + TILE_M * 128, barrier = full + 8 * slot;
        barrier_expect(barrier, STAGE_BYTES);
        load_box(stage, &a_map, barrier, step * K_STEP, place.row);
        // This block's part of B goes to the whole cluster; STAGE_BYTES counts the other block's part too.
        constexpr int PART = TILE_N / CLUSTER;
        if (CLUSTER > 1) load_box_to((1 << CLUSTER) - 1, b_stage + rank * PART * 128, &b_map, barrier, step * K_STEP, place.column + rank * PART);
        else load_box(b_stage, &b_map, barrier, step * K_STEP, place.column);
    };
    // The place travels with the first stage: those who multiply have no registers to work it out.
    auto tell_place = [&](const Place& place, int slot) {
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(places + 16 * slot), "r"(place.row), "r"(place.column), "r"(place.width),
                     "r"(place.last)
                     : "memory");
    };
    auto place_of = [&](int tile) {
        Place place = cut.place_of(tile);
        place.last = tile + clusters >= tiles;
        place.row += rank * TILE_M;
        return place;
    };

    // The copy engine reads a map when it is first used, which takes as long as a load: c_map would be waited for at the first store.
    if (threadIdx.x == 32) prefetch_map(&c_map);
    int ahead = 0; // steps of the first tile that are on their way before the block has come together
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 128);
            barrier_init(empty + 8 * s, CONSUMERS * CLUSTER); // the multiplying warpgroups of all blocks
        }
        barrier_init_fence();
        // The stages are empty, and this thread knows the barriers: it need not wait for those who will read them.
        if (CLUSTER == 1 && boxes && cluster < tiles) {
            Place place = place_of(cluster);
            tell_place(place, 0);
            for (; ahead < least(STAGES, steps); ++ahead) load(place, ahead, ahead);
        }
    }
    if (CLUSTER > 1) cluster_meet(); // no block may reach for the other's barriers before they are ready
    else __syncthreads();

    if (warpgroup == 0) {
        if (CONSUMERS > 1) give_back_registers<40>();
        int slot = ahead % STAGES, parity = ahead < STAGES; // waiting for the phase before the first does not wait
        // The copy engine needs one thread.
        for (int tile = boxes && threadIdx.x ? tiles : cluster; tile < tiles; tile += clusters) {
            Place place = place_of(tile);
            for (int step = ahead; step < steps; ++step) {
                barrier_wait(empty + 8 * slot, parity);
                if (step == 0 && threadIdx.x == 0) tell_place(place, slot);
                if (boxes) {
                    load(place, step, slot);
                } else {
                    uint32_t stage = base + slot * STAGE_BYTES;
                    copy_rows(stage, a, place.row, TILE_M, step * K_STEP, m, k, threadIdx.x, 128);
                    copy_rows(stage + TILE_M * 128, b, place.column, TILE_N, step * K_STEP, n, k, threadIdx.x, 128);
                    fence_async_shared();
                    barrier_arrive(full + 8 * slot);
                }
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
            ahead = 0;
        }
        // This block must outlive what the other one sends to its barriers.
        if (CLUSTER > 1 && threadIdx.x == 0) {
            for (int s = 0; s < STAGES; ++s) {
                barrier_wait(empty + 8 * slot, parity);
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
        }
    } else {
        if (CONSUMERS > 1) take_registers<232>();
        Multiplier<Element> it;
        it.base = base, it.staging = staging, it.full = full, it.empty = empty;
        it.consumer = warpgroup - 1, it.warp = threadIdx.x / 32 % 4, it.lane = threadIdx.x % 32;
        it.m = m, it.n = n, it.steps = steps, it.scale = scale, it.c_map = &c_map, it.c = c;
        for (bool more = cluster < tiles; more;) {
            barrier_wait(full + 8 * it.slot, it.parity);
            Place place;
            asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(place.row), "=r"(place.column), "=r"(place.width), "=r"(place.last)
                         : "r"(places + 16 * it.slot)
                         : "memory");
            named_barrier(warpgroup, 128); // all have read it when one thread says that the stage is free
            int row = place.row + it.consumer * 64;
            more = !__shfl_sync(FULL_MASK, place.last, 0);
            if constexpr (WIDTHS == 1) {
                it.template make<TILE_N>(row, place.column);
            } else {
                if (__shfl_sync(FULL_MASK, place.width, 0) == TILE_N) it.template make<TILE_N>(row, place.column);
                else it.template make<NARROW>(row, place.column);
            }
            // There is no next tile to hide the stores behind, or it has too few steps.
            if constexpr (!Multiplier<Element>::LEAVE_AT_ONCE) {
                if (!more || it.steps < PIECES) {
#pragma unroll
                    for (int piece = 0; piece < PIECES; ++piece) it.store_piece(piece, !more);
                    it.waiting = false;
                }
            }
        }
        store_wait_read<0>(); // before this block's shared memory goes away
    }
}

// ---------------------------------------------------------------- rows that begin anywhere
// The copy engine reads a matrix only if its rows lie a multiple of 16 bytes apart. repack() copies two matrices that do not obey
// into two that do, and returns when all blocks have done their part: a barrier for the whole grid. That is safe however few blocks
// the GPU runs at a time, because work is not dealt out but fetched: what was fetched belongs to a block that runs, and a block that
// starts late finds nothing left to wait for.

// Rows that warps have fetched, rows that are copied, blocks that know it. All are 0 again at the end, ready for the next launch
// (launches must not overlap).
__device__ unsigned repack_fetched, repack_done, repack_left;

// Ordinary loads and stores on the one hand and the copy engine's on the other become visible to each other, in all memory.
__device__ inline void fence_async()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ inline unsigned add_release(unsigned* counter, unsigned value)
{
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(value) : "memory");
    return before;
}

__device__ inline unsigned load_acquire(const unsigned* counter)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}

// 16 bytes from byte `bytes` (0 to 15) of low, which high follows.
__device__ inline uint4 across(uint4 low, uint4 high, int bytes)
{
    uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 6; ++i) words[i] = bytes & 8 ? words[i + 2] : words[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = bytes & 4 ? words[i + 1] : words[i];
    int bits = bytes % 4 * 8;
    return make_uint4(__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
                      __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits));
}

// Rows of `width` elements go to rows of round_up(width, 16 bytes): a_rows of a to a_to, b_rows of b to b_to. What lies behind the
// end of a row there is of no meaning. Called by all threads of all blocks.
template <typename Element>
__device__ void repack(const Element* a, Element* a_to, int a_rows, const Element* b, Element* b_to, int b_rows, int width)
{
    constexpr int EACH = 16 / sizeof(Element);
    int lane = threadIdx.x % 32, pieces = ceil_div(width, EACH);
    unsigned rows = static_cast<unsigned>(a_rows) + b_rows;
    auto fetch = [&] { return lane == 0 ? atomicAdd(&repack_fetched, 1) : 0; };
    unsigned next = fetch(), copied = 0;
    while (true) {
        unsigned row = __shfl_sync(FULL_MASK, next, 0);
        if (row >= rows) break;
        next = fetch(); // on its way while this row is copied
        bool of_a = row < a_rows;
        const Element* matrix = of_a ? a : b;
        int64_t here = of_a ? row : row - a_rows, begin = here * width, end = static_cast<int64_t>(of_a ? a_rows : b_rows) * width;
        Element* to = (of_a ? a_to : b_to) + here * pieces * EACH;
        // 16 bytes of the copy lie across two aligned pieces of the matrix. Where the second would reach behind its end, elements go
        // one by one.
        const uint4* from = reinterpret_cast<const uint4*>(matrix) + begin / EACH;
        int bytes = begin % EACH * sizeof(Element), whole = static_cast<int>(least<int64_t>(pieces, end / EACH - begin / EACH - 1));
#pragma unroll 8
        for (int piece = lane; piece < whole; piece += 32) reinterpret_cast<uint4*>(to)[piece] = across(from[piece], from[piece + 1], bytes);
        for (int i = greatest(whole, 0) * EACH + lane; i < width; i += 32) to[i] = matrix[begin + i];
        ++copied;
    }
    fence_async(); // once for all of the warp's rows: it waits until they are written
    __syncwarp();
    if (lane == 0) add_release(&repack_done, copied);
    __syncthreads(); // no warp of this block will fetch any more
    if (threadIdx.x == 0) {
        while (load_acquire(&repack_done) < rows) __nanosleep(100);
        if (add_release(&repack_left, 1) == gridDim.x - 1) repack_fetched = repack_done = repack_left = 0;
    }
    __syncthreads();
    fence_async();
}
