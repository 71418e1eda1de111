// The consumers' loop as the ladder's last rung has it: scores one tile ahead, and warpgroups that take turns at the tensor cores.
//
// lockstep: block = 128 * (CONSUMERS + 1)
// lockstep: grid = min(BLOCKS, batch * heads * ceil_div(queries, 64 * CONSUMERS))
// lockstep: dynamic_shared_bytes = HEAD * 2 * (64 * CONSUMERS + 2 * STAGES * TILE_N) + 256
#include "hopper.cuh"

// Elements of a query, a key or a value: 64 or 128.
#ifndef HEAD
#define HEAD 128
#endif
// Warpgroups that compute, with 64 queries each.
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
// Keys of a tile: 128, 176 or 192.
#ifndef TILE_N
#define TILE_N 128
#endif
// Tiles of keys, and of values, that are on their way or in use at a time.
#ifndef STAGES
#define STAGES 2
#endif
// The next tile's scores are computed before the softmax of the present one.
#ifndef AHEAD
#define AHEAD 1
#endif
// Warpgroups take turns at the tensor cores.
#ifndef PING_PONG
#define PING_PONG 1
#endif
// How far, as a power of two, weights may grow beyond 1 before the output is rescaled; 0 for rescaling at once.
#ifndef SLACK
#define SLACK 8
#endif
// Of 16 exponentials, how many are computed by a polynomial, which the units for multiply-adds do, and not by the unit for special
// functions, of which there is one lane for eight.
#ifndef POLYNOMIAL
#define POLYNOMIAL 0
#endif
// One block a multiprocessor.
#ifndef BLOCKS
#define BLOCKS 132
#endif
// Heads whose keys and values, in bytes, may be in use at one time: what the second-level cache holds.
#ifndef SECTION_BYTES
#define SECTION_BYTES (8 << 20)
#endif

constexpr int TILE_M = 64 * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int PANELS = HEAD / 64; // a row is cut into pieces of 128 bytes, which the swizzle wants
constexpr int Q_BYTES = TILE_M * HEAD * 2, KV_BYTES = TILE_N * HEAD * 2;
constexpr int SCORES = TILE_N / 2, OUTPUTS = HEAD / 2; // accumulators a thread
constexpr float SCALE_LOG2 = 1.44269504f * (HEAD == 64 ? 0.125f : 0.0883883476f); // log2(e) / sqrt(HEAD)

// ---------------------------------------------------------------- instructions

#define LIST_88 LIST_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87"
#define OPERANDS_88 OPERANDS_64, \
    "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
    "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
    "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
WGMMA_ROW(wgmma_bf16, 88, "m64n176k16.f32.bf16.bf16", BF16_TAIL, "%90", "%88", "%89")

// D[64 x HEAD] += P[64 x 16 * STEPS] * V[16 * STEPS x HEAD], with P in registers, four for 16 keys, and V in shared memory with a key
// a row. B has its columns along the rows here: the last operand says so.
#define WEIGHTS_STEP(SHAPE, LIST, A, B) \
    "wgmma.mma_async.sync.aligned." SHAPE ".f32.bf16.bf16 {" LIST "}, {" A "}, " B ", yes, 1, 1, 1;\n\t"
#define WEIGHTS_12 "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]), \
    "r"(p[8]), "r"(p[9]), "r"(p[10]), "r"(p[11])
#define WEIGHTS_16 WEIGHTS_12, "r"(p[12]), "r"(p[13]), "r"(p[14]), "r"(p[15])
#define NEXT_16_KEYS "add.s64 b, b, 128;\n\t"

__device__ inline void add_values_4(float (&d)[64], const uint32_t* p, uint64_t v)
{
    asm volatile("{\n\t.reg .pred yes;\n\t.reg .b64 b;\n\tsetp.eq.b32 yes, 0, 0;\n\tmov.b64 b, %80;\n\t"
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%64, %65, %66, %67", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%68, %69, %70, %71", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%72, %73, %74, %75", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%76, %77, %78, %79", "b") "}"
                 : OPERANDS_64 : WEIGHTS_16, "l"(v));
}
__device__ inline void add_values_3(float (&d)[64], const uint32_t* p, uint64_t v)
{
    asm volatile("{\n\t.reg .pred yes;\n\t.reg .b64 b;\n\tsetp.eq.b32 yes, 0, 0;\n\tmov.b64 b, %76;\n\t"
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%64, %65, %66, %67", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%68, %69, %70, %71", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%72, %73, %74, %75", "b") "}"
                 : OPERANDS_64 : WEIGHTS_12, "l"(v));
}
__device__ inline void add_values_4(float (&d)[32], const uint32_t* p, uint64_t v)
{
    asm volatile("{\n\t.reg .pred yes;\n\t.reg .b64 b;\n\tsetp.eq.b32 yes, 0, 0;\n\tmov.b64 b, %48;\n\t"
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%32, %33, %34, %35", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%36, %37, %38, %39", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%40, %41, %42, %43", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%44, %45, %46, %47", "b") "}"
                 : OPERANDS_32 : WEIGHTS_16, "l"(v));
}
__device__ inline void add_values_3(float (&d)[32], const uint32_t* p, uint64_t v)
{
    asm volatile("{\n\t.reg .pred yes;\n\t.reg .b64 b;\n\tsetp.eq.b32 yes, 0, 0;\n\tmov.b64 b, %44;\n\t"
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%32, %33, %34, %35", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%36, %37, %38, %39", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%40, %41, %42, %43", "b") "}"
                 : OPERANDS_32 : WEIGHTS_12, "l"(v));
}

// A tile of values: HEAD along the rows, in panels of 64; TILE_N * 128 bytes from panel to panel, 1024 from 8 keys to the next 8.
__device__ inline uint64_t values_operand(uint32_t address)
{
    return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (static_cast<uint64_t>(TILE_N * 8) << 16) | (64ull << 32) | (1ull << 62);
}

// Row y of matrix z: of one head, so that rows past its end are zeros and not the next head's.
__device__ inline void load_rows(uint32_t destination, const CUtensorMap* map, uint32_t barrier, int x, int y, int z)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(destination),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}

__device__ inline float power_of_two(float x)
{
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// The same to 1e-4 of the result, for x below 127. Half of a float's bits are its exponent's business: with 1.5 * 2^23 added, x is
// rounded to a whole number, which is then the lowest bits; what is left of x is within a half, and a cubic does.
__device__ inline float power_by_polynomial(float x)
{
    x = fmaxf(x, -126.0f);
    float whole = x + 12582912.0f, rest = x - (whole - 12582912.0f);
    float y = fmaf(fmaf(fmaf(0.055171669f, rest, 0.242611122f), rest, 0.693260985f), rest, 0.999928074f);
    return __int_as_float(__float_as_int(y) + (__float_as_int(whole) << 23));
}

__device__ inline void arrive_named(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---------------------------------------------------------------- the pieces

// Where a tile of queries lies.
struct Place { int matrix, row, key_matrix, tiles; };

struct Shape { int batch, heads, key_heads, queries, keys, causal; };

// Keys that a query sees: with a causal mask the last query sees the last key, and each one before it one key fewer.
__device__ inline int visible(const Shape& shape, int row)
{
    return shape.causal ? least(shape.keys, row + 1 + shape.keys - shape.queries) : shape.keys;
}

// Tiles in the order in which blocks take them: heads in sections whose keys and values fit the second-level cache; inside a section
// the last rows of all its heads first, which with a causal mask are the longest.
__device__ inline Place place_of(const Shape& shape, int tile)
{
    int down = ceil_div(shape.queries, TILE_M), matrices = shape.batch * shape.heads, group = shape.heads / shape.key_heads;
    int section = SECTION_BYTES / (shape.keys * HEAD * 4) * group;
    section = greatest(1, least(section, matrices));
    int number = tile / (section * down), inside = tile % (section * down);
    int here = least(section, matrices - number * section);
    int matrix = number * section + inside % here, row = (down - 1 - inside / here) * TILE_M;
    int sequence = matrix / shape.heads, head = matrix % shape.heads;
    int last = visible(shape, least(row + TILE_M, shape.queries) - 1);
    return {matrix, row, sequence * shape.key_heads + head / group, greatest(1, ceil_div(last, TILE_N))};
}

// Tiles given out so far, and blocks that have ended. The last block sets both back, for the next launch.
__device__ unsigned taken, ended;

// Scores to weights: s becomes 2^(s * SCALE_LOG2 - top), `sum` this thread's part of each row's total, and `factor` what the
// output so far has to be multiplied by. False where all factors of this warp are 1.
__device__ inline bool soften(float (&s)[SCORES], float (&top)[2], float (&sum)[2], float (&factor)[2])
{
    float most[2] = {fmaxf(s[0], s[1]), fmaxf(s[2], s[3])};
#pragma unroll
    for (int i = 4; i < SCORES; i += 4) {
        most[0] = fmaxf(most[0], fmaxf(s[i], s[i + 1]));
        most[1] = fmaxf(most[1], fmaxf(s[i + 2], s[i + 3]));
    }
    bool grown = false;
    float subtract[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        most[r] = fmaxf(most[r], __shfl_xor_sync(FULL_MASK, most[r], 1));
        most[r] = fmaxf(most[r], __shfl_xor_sync(FULL_MASK, most[r], 2)) * SCALE_LOG2;
        bool higher = most[r] > top[r] + SLACK; // from -inf too
        factor[r] = higher ? power_of_two(top[r] - most[r]) : 1.0f;
        top[r] = higher ? most[r] : top[r];
        subtract[r] = top[r] == -INFINITY ? 0.0f : top[r]; // no key of this row so far
        sum[r] *= factor[r];
        grown |= higher;
    }
#pragma unroll
    for (int i = 0; i < SCORES; i += 4) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float x = fmaf(s[i + e], SCALE_LOG2, -subtract[e / 2]);
            s[i + e] = (i + e) * 5 % 16 < POLYNOMIAL ? power_by_polynomial(x) : power_of_two(x);
        }
        sum[0] += s[i] + s[i + 1];
        sum[1] += s[i + 2] + s[i + 3];
    }
    return __any_sync(FULL_MASK, grown);
}

// Scores of keys that a row does not see become -inf: those from `limit` on, counted from this thread's first column.
__device__ inline void mask(float (&s)[SCORES], int limit_upper, int limit_lower)
{
#pragma unroll
    for (int i = 0; i < SCORES; i += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            if (i * 2 + e >= limit_upper) s[i + e] = -INFINITY;
            if (i * 2 + e >= limit_lower) s[i + 2 + e] = -INFINITY;
        }
    }
}

// Four lanes hold 8 columns of a row of output in each of four words; after this, each lane has all of one of the four.
__device__ inline uint4 gather_columns(const uint32_t (&w)[4], int t)
{
    // Lanes 1 apart exchange odd and even words, then lanes 2 apart halves.
    bool odd = t & 1, upper = t & 2;
    uint32_t a = __shfl_xor_sync(FULL_MASK, odd ? w[0] : w[1], 1), b = __shfl_xor_sync(FULL_MASK, odd ? w[2] : w[3], 1);
    uint32_t x0 = odd ? a : w[0], x1 = odd ? w[1] : a, y0 = odd ? b : w[2], y1 = odd ? w[3] : b;
    uint32_t c = __shfl_xor_sync(FULL_MASK, upper ? x0 : y0, 2), d = __shfl_xor_sync(FULL_MASK, upper ? x1 : y1, 2);
    return upper ? make_uint4(c, d, y0, y1) : make_uint4(x0, x1, c, d);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
flash_attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map, const __grid_constant__ CUtensorMap v_map,
          const uint16_t*, const uint16_t*, const uint16_t*, uint16_t* out, float* lse, int batch, int heads, int key_heads, int queries, int keys, int causal)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t q = shared_address(shared), k = q + Q_BYTES, v = k + STAGES * KV_BYTES, barriers = v + STAGES * KV_BYTES;
    uint32_t k_full = barriers, k_empty = k_full + 8 * STAGES, v_full = k_empty + 8 * STAGES, v_empty = v_full + 8 * STAGES;
    uint32_t q_full = v_empty + 8 * STAGES, q_empty = q_full + 8;
    volatile int* given = reinterpret_cast<int*>(shared + (q_empty + 8 - q)); // the tile in work, for all
    Shape shape = {batch, heads, key_heads, queries, keys, causal};
    int tiles = batch * heads * ceil_div(queries, TILE_M);
    int warpgroup = threadIdx.x / 128;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            barrier_init(k_full + 8 * i, 1);
            barrier_init(v_full + 8 * i, 1);
            barrier_init(k_empty + 8 * i, CONSUMERS);
            barrier_init(v_empty + 8 * i, CONSUMERS);
        }
        barrier_init(q_full, 1);
        barrier_init(q_empty, CONSUMERS);
        barrier_init_fence();
    }
    __syncthreads();

    if (warpgroup == 0) {
        // Three threads, one of each warpgroup, have 3 * 168 registers at launch, and four 4 * 128. Who asks for more waits for ever.
        give_back_registers<CONSUMERS == 2 ? 40 : 32>();
        if (threadIdx.x == 0) {
            int k_slot = 0, k_parity = 1, v_slot = 0, v_parity = 1, q_parity = 1;
            auto load_keys = [&](const Place& place, int at) {
                uint32_t barrier = k_full + 8 * k_slot;
                barrier_wait(k_empty + 8 * k_slot, k_parity);
                barrier_expect(barrier, KV_BYTES);
                for (int p = 0; p < PANELS; ++p)
                    load_rows(k + k_slot * KV_BYTES + p * TILE_N * 128, &k_map, barrier, p * 64, at * TILE_N, place.key_matrix);
                if (++k_slot == STAGES) k_slot = 0, k_parity ^= 1;
            };
            auto load_values = [&](const Place& place, int at) {
                uint32_t barrier = v_full + 8 * v_slot;
                barrier_wait(v_empty + 8 * v_slot, v_parity);
                barrier_expect(barrier, KV_BYTES);
                for (int p = 0; p < PANELS; ++p)
                    load_rows(v + v_slot * KV_BYTES + p * TILE_N * 128, &v_map, barrier, p * 64, at * TILE_N, place.key_matrix);
                if (++v_slot == STAGES) v_slot = 0, v_parity ^= 1;
            };
            for (int tile = blockIdx.x;;) {
                barrier_wait(q_empty, q_parity); // all have read the tile before, and its number
                q_parity ^= 1;
                *given = tile;
                if (tile >= tiles) {
                    barrier_arrive(q_full);
                    break;
                }
                int next = gridDim.x + atomicAdd(&taken, 1); // asked for now, needed at the end
                Place place = place_of(shape, tile);
                barrier_expect(q_full, Q_BYTES);
                for (int p = 0; p < PANELS; ++p) load_rows(q + p * TILE_M * 128, &q_map, q_full, p * 64, place.row, place.matrix);
                // In the order in which they are used: scores are one tile ahead.
                load_keys(place, place.tiles - 1);
                for (int at = place.tiles - 1; at > 0; --at) {
                    load_keys(place, at - 1);
                    load_values(place, at);
                }
                load_values(place, 0);
                tile = next;
            }
            if (atomicAdd(&ended, 1) == gridDim.x - 1) {
                atomicExch(&taken, 0);
                atomicExch(&ended, 0);
            }
        }
    } else {
        take_registers<CONSUMERS == 2 ? 232 : 160>();
        int consumer = warpgroup - 1, thread = threadIdx.x % 128, t = threadIdx.x % 4;
        int k_slot = 0, k_parity = 0, v_slot = 0, v_parity = 0, q_parity = 0;
        uint32_t q_mine = q + consumer * 64 * 128;
        float s[SCORES], o[OUTPUTS];
        uint32_t p[SCORES / 2];

        // Whose turn it is at the tensor cores: barrier 1 + c opens for warpgroup c.
        auto my_turn = [&] { if (PING_PONG) named_barrier(1 + consumer, 256); };
        auto next_turn = [&] { if (PING_PONG) arrive_named(1 + (consumer + 1) % CONSUMERS, 256); };
        auto score = [&] {
            barrier_wait(k_full + 8 * k_slot, k_parity);
            my_turn();
            wgmma_fence();
#pragma unroll
            for (int panel = 0; panel < PANELS; ++panel)
                wgmma_bf16(s, operand(q_mine + panel * TILE_M * 128), operand(k + k_slot * KV_BYTES + panel * TILE_N * 128), panel);
            wgmma_commit();
        };
        auto add_values = [&] {
            uint64_t values = values_operand(v + v_slot * KV_BYTES);
#pragma unroll
            for (int i = 0; i < TILE_N / 64; ++i) add_values_4(o, p + 16 * i, values + 512 * i);
            if constexpr (TILE_N % 64 == 48) add_values_3(o, p + TILE_N / 64 * 16, values + TILE_N / 64 * 512);
            wgmma_commit();
        };
        auto release_keys = [&] {
            if (thread == 0) barrier_arrive(k_empty + 8 * k_slot);
            if (++k_slot == STAGES) k_slot = 0, k_parity ^= 1;
        };
        auto values_ready = [&] { barrier_wait(v_full + 8 * v_slot, v_parity); };
        auto next_values = [&] {
            if (++v_slot == STAGES) v_slot = 0, v_parity ^= 1;
        };
        auto finish_values = [&] {
            if (!AHEAD) values_ready();
            wgmma_fence();
            add_values();
            wgmma_wait<0>();
            if (thread == 0) barrier_arrive(v_empty + 8 * v_slot);
            next_values();
        };
        auto pack = [&] {
#pragma unroll
            for (int i = 0; i < SCORES / 2; ++i) p[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
        };

        if (consumer == CONSUMERS - 1) next_turn(); // the first one may begin
        for (;;) {
            barrier_wait(q_full, q_parity);
            q_parity ^= 1;
            int tile = *given;
            if (tile >= tiles) break;
            Place place = place_of(shape, tile);
            int row = place.row + consumer * 64 + thread / 32 * 16 + thread % 32 / 4;
            int seen_by_all = visible(shape, place.row + consumer * 64); // keys that every row of this warpgroup sees
            int limit_upper = visible(shape, row) - t * 2, limit_lower = visible(shape, row + 8) - t * 2;
            float top[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f}, factor[2];
            int at = place.tiles - 1;
            auto hide = [&] {
                if ((at + 1) * TILE_N > seen_by_all) mask(s, limit_upper - at * TILE_N, limit_lower - at * TILE_N);
            };

            score();
            next_turn();
            wgmma_wait<0>();
            release_keys();
            hide();
            soften(s, top, sum, factor);
            if (AHEAD) values_ready();
            pack();
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i) o[i] = 0.0f;
            if (!AHEAD) finish_values();
#pragma unroll 1
            while (at-- > 0) {
                score();
                if (AHEAD) {
                    add_values();
                    next_turn();
                    wgmma_wait<1>();
                } else {
                    next_turn();
                    wgmma_wait<0>();
                }
                release_keys();
                hide();
                bool grown = soften(s, top, sum, factor);
                // The assembler moves wgmma_wait to the front of its basic block and exponentials behind it, where they would not run
                // beside the product. What a barrier's parity depends on cannot be moved behind its loop; no sum is below 0.
                if (AHEAD) {
                    uint32_t used = v_empty + 8 * v_slot;
                    next_values();
                    barrier_wait(v_full + 8 * v_slot, v_parity ^ (sum[0] + sum[1] < 0.0f));
                    wgmma_wait<0>();
                    if (thread == 0) barrier_arrive(used);
                }
                if (grown) {
#pragma unroll
                    for (int i = 0; i < OUTPUTS; i += 4) {
                        o[i] *= factor[0], o[i + 1] *= factor[0];
                        o[i + 2] *= factor[1], o[i + 3] *= factor[1];
                    }
                }
                pack();
                if (!AHEAD) finish_values();
            }
            if (thread == 0) barrier_arrive(q_empty); // the next tile's queries may come
            if (AHEAD) finish_values();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                sum[r] += __shfl_xor_sync(FULL_MASK, sum[r], 1);
                sum[r] += __shfl_xor_sync(FULL_MASK, sum[r], 2);
            }
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                bool nothing = top[r] == -INFINITY; // this row sees no key
                float share = nothing ? 0.0f : 1.0f / sum[r];
                int at_row = row + r * 8;
                int64_t line = static_cast<int64_t>(place.matrix) * queries + at_row;
                bool inside = at_row < queries;
                if (inside && t == 0) lse[line] = nothing ? -INFINITY : top[r] * 0.693147181f + logf(sum[r]);
#pragma unroll
                for (int i = 0; i < OUTPUTS; i += 16) { // 32 columns
                    uint32_t words[4];
#pragma unroll
                    for (int w = 0; w < 4; ++w) words[w] = pack_bf16(o[i + w * 4 + r * 2] * share, o[i + w * 4 + r * 2 + 1] * share);
                    uint4 columns = gather_columns(words, t);
                    if (inside) *reinterpret_cast<uint4*>(out + line * HEAD + i * 2 + t * 8) = columns;
                }
            }
        }
        // The turn that the last one gave is nobody's: the first one takes it, so that no barrier is left half full.
        if (consumer == 0) my_turn();
    }
}
