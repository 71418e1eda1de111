// Decode attention: one query a sequence over its cache, D = 128, K and V each in bf16 (both), e4m3 or four bits (NVFP4, or
// INT4 with its scales), contiguous or in pages.
//
// A warp owns one key head and a stretch of tiles of 16 keys, cut so that all warps have equally many, across sequences of any
// lengths. Its rows travel by cp.async through a ring of its own in shared memory, so that no warp waits for another. Compressed
// operands become f16 in registers, which is exact: e4m3 and e2m1 times an e4m3 scale fit f16, and so does INT4 times a bf16 scale
// (11 bits) that is one of f16's normal numbers. The weights are split into a high and a low part of 16 bits, in rows g and g + 8.
// lockstep: decode_split.grid = BLOCKS
// lockstep: decode_split.block = THREADS
// lockstep: decode_split.dynamic_shared_bytes = SHARED_BYTES
// lockstep: decode_merge.grid = min(128, heads * batch)
// lockstep: decode_merge.block = MERGE_THREADS
#include "mma.cuh"
#ifndef K_BITS
#define K_BITS 8
#endif
#ifndef V_BITS
#define V_BITS 4
#endif
#ifndef INT4
#define INT4 0  // 1: codes of four bits are whole numbers from -8 to 7, with a bf16 scale for 32 in place of an e4m3 for 16
#endif
#ifndef PAGED
#define PAGED 0
#endif
#define STAGES 3
#ifndef RESIDENT
#define RESIDENT 3
#endif
#define THREADS 128
#define MERGE_THREADS 512
#define BLOCKS (132 * RESIDENT)
#ifndef SHARED_BYTES
#define SHARED_BYTES 38400
#endif
constexpr int WARPS = THREADS / 32;
constexpr int TILE = 16;  // keys
constexpr int LEAST = 8;  // tiles of a warp, so that its partial result is worth writing
constexpr int D = 128;    // elements of a head
constexpr float LOG2_E = 1.44269504088896340736f;

// ---------------------------------------------------------------- numbers
__device__ inline uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
    return product;
}

// Two e4m3 bytes (the low 16 bits) as two f16, exactly.
__device__ inline uint32_t from_e4m3(uint32_t pair)
{
    uint32_t halves;
    asm("{.reg .b16 low, high;\n\tmov.b32 {low, high}, %1;\n\tcvt.rn.f16x2.e4m3x2 %0, low;}" : "=r"(halves) : "r"(pair));
    return halves;
}

// Codes j of both halves of a word, as f16. Of e2m1 the three bits of a magnitude go to f16's two lowest bits of the exponent and
// the highest of the fraction: 2^14 too small, and exact, since tensor cores and mul take f16's subnormal numbers as they are.
//
// A whole number n goes into the fraction of 1024 + (n + 8), from which 1032 is taken off again: exact, too.
constexpr float FOUR_BITS_FACTOR = INT4 ? 1.0f : 16384.0f;
__device__ inline uint32_t four_bits_pair(uint32_t word, int j)
{
#if INT4
    const uint32_t biased = (word >> (4 * j) & 0x000f000f) ^ 0x64086408;
    uint32_t number;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(number) : "r"(biased), "r"(0x64086408));
    return number;
#endif
    const uint32_t top = word << (12 - 4 * j);
    return (top & 0x80008000) | (top >> 3 & 0x0e000e00);
}

// D[16 x 8] += A[16 x 16] * B[16 x 8], f16 with fp32 sums; fragments as in mma_bf16.
__device__ inline void mma_f16(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ inline uint32_t pack_f16(float low, float high)
{
    uint32_t packed;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

// What rounding to f16 lost, as f16.
__device__ inline uint32_t rest_f16(uint32_t rounded, float low, float high)
{
    float a, b;
    asm("{.reg .b16 x, y;\n\tmov.b32 {x, y}, %2;\n\tcvt.f32.f16 %0, x;\n\tcvt.f32.f16 %1, y;}" : "=f"(a), "=f"(b) : "r"(rounded));
    return pack_f16(low - a, high - b);
}

// A bf16 scale as two f16.
__device__ inline uint32_t twice_from_bf16(uint32_t scale)
{
    return pack_f16(__uint_as_float(scale << 16), __uint_as_float(scale << 16));
}

__device__ inline float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// As copy_async (mma.cuh), of 8 bytes: only the first `bytes` are read, the rest become zeros.
__device__ inline void copy_eight(uint32_t to, const void* from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Reads of shared memory, of a vector or of one scale or two.
__device__ inline void load_four(uint32_t (&v)[4], uint32_t address)
{
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(address) : "memory");
}
__device__ inline void load_two(uint32_t (&v)[2], uint32_t address)
{
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(address) : "memory");
}
__device__ inline uint32_t load_scale(uint32_t address)
{
    uint32_t v;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}
__device__ inline uint32_t load_scales(uint32_t address)
{
    uint32_t v;
    asm volatile("ld.shared.u16 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}

// ---------------------------------------------------------------- who does what
// All tiles of all sequences in a row are cut into `ranks` equal stretches. A stretch may begin and end within a sequence; the
// part of rank r in sequence b goes to slot r + b, which no other part has.
struct Work
{
    const int* lengths;
    int batch, capacity, lane;

    // Into how many stretches the keys of a head are cut.
    __device__ int ranks(int key_heads) const { return least(BLOCKS * WARPS / key_heads, ceil_div(batch * ceil_div(capacity, TILE), LEAST)); }

    __device__ int tiles(int sequence) const
    {
        return sequence < batch ? ceil_div(least(greatest(lengths[sequence], 0), capacity), TILE) : 0;
    }

    // Tiles of the sequences before one; before(batch) are all.
    __device__ int before(int sequence) const
    {
        int sum = 0;
        for (int i = lane; i < sequence; i += 32) sum += tiles(i);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, distance);
        return sum;
    }

    // The sequence that a tile is in, and that sequence's first tile.
    __device__ void find(int tile, int& sequence, int& first) const
    {
        for (sequence = 0, first = 0; first + tiles(sequence) <= tile; ++sequence) first += tiles(sequence);
    }
};

// How `all` tiles are cut into `ranks` stretches: the first `longer` have one more than the others.
struct Cut
{
    int each, longer;

    __device__ Cut(int all, int ranks) : each(all / ranks), longer(all % ranks) {}
    __device__ int begin(int rank) const { return rank * each + least(rank, longer); }
    __device__ int rank_of(int tile) const
    {
        const int in_longer = longer * (each + 1);
        return tile < in_longer ? tile / (each + 1) : longer + (tile - in_longer) / each;
    }
};

// ---------------------------------------------------------------- the part of a warp
struct Cache
{
    static_assert((K_BITS == 16) == (V_BITS == 16), "bf16 for both or for neither");
    static constexpr int K_ROW = D * K_BITS / 8, V_ROW = D * V_BITS / 8, K_SCALES = K_BITS == 4 ? D / 16 : 0,
                         V_SCALES = V_BITS == 4 ? D / 16 : 0;  // bytes
    static constexpr int PIECES = K_ROW / 64;                // 16-byte pieces of a K row that a lane has
    static constexpr int K_BYTES = TILE * K_ROW;      // [2][PIECES][32 lanes] pieces
    static constexpr int V_BYTES = TILE * V_ROW;      // rows, pieces exchanged so that reads have no bank conflict
    static constexpr int STAGE = K_BYTES + V_BYTES + TILE * (V_SCALES + K_SCALES);
    static constexpr int SHARED = WARPS * STAGES * STAGE;  // bytes of a block

    const uint8_t *k, *v, *k_scales, *v_scales;  // of the key head, and of the sequence where there are no pages
    const int* pages;                 // of the sequence
    int page_size, key_heads, length, lane;
    uint32_t ring;

    // Row of a tile that column c of score tile i stands for: the four that lanes 4g to 4g + 3 read together are neighbors.
    __device__ static int row_of(int i, int c) { return 8 * i + 4 * (c & 1) + (c >> 1); }

    __device__ static uint32_t v_place(int row, int piece)
    {
        const int moved = V_BITS == 16 ? (row & 1) | (row & 2) << 1 : V_BITS == 8 ? (row & 3) << 1 : row & 2;
        return row * V_ROW + ((piece ^ moved) << 4);
    }

    // How many rows behind the first that of a key is.
    __device__ long long place(int key) const
    {
        if constexpr (PAGED) {
            return (static_cast<long long>(pages[key / page_size]) * page_size + key % page_size) * key_heads;
        } else {
            return static_cast<long long>(key) * key_heads;
        }
    }

    // Starts the copies of a tile. Keys beyond the length become zeros.
    __device__ void load(int tile, int stage) const
    {
        const uint32_t to = ring + stage * STAGE;
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int key = tile * TILE + row_of(i, g);
            const bool is_there = key < length;
            const uint8_t* from = k + (is_there ? place(key) : 0) * K_ROW + t * 16;
#pragma unroll
            for (int p = 0; p < PIECES; ++p) {
                copy_async(to + ((i * PIECES + p) * 32 + lane) * 16, from + p * 64, is_there ? 16 : 0);
            }
        }
#pragma unroll
        for (int i = 0; i < V_BYTES / 512; ++i) {
            const int p = i * 32 + lane, row = p / (V_ROW / 16), piece = p % (V_ROW / 16), key = tile * TILE + row;
            const bool is_there = key < length;
            copy_async(to + K_BYTES + v_place(row, piece), v + (is_there ? place(key) : 0) * V_ROW + piece * 16, is_there ? 16 : 0);
        }
        // Lanes 0 to 15 copy the scales of values, 16 to 31 those of keys.
        const int row = lane % TILE, key = tile * TILE + row;
        const bool is_there = key < length;
        if (V_SCALES > 0 && lane < TILE) {
            copy_eight(to + K_BYTES + V_BYTES + row * 8, v_scales + (is_there ? place(key) : 0) * 8, is_there ? 8 : 0);
        }
        if (K_SCALES > 0 && lane >= TILE) {
            copy_eight(to + K_BYTES + V_BYTES + TILE * V_SCALES + row * 8, k_scales + (is_there ? place(key) : 0) * 8, is_there ? 8 : 0);
        }
    }

    // The query's pairs in the order in which the lane's pieces of a key come.
    __device__ void query(uint32_t (&q)[D / 8], const uint16_t* from, int group) const
    {
        constexpr int PAIRS = 64 / K_BITS;  // of a piece
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int i = 0; i < D / 8; ++i) {
            const int at = (t + 4 * (i / PAIRS)) * 2 * PAIRS + 2 * (i % PAIRS);
            uint32_t pair = 0;
            if (g < group) {
                // The software path takes code j of a word together with code j + 4.
                const int e2m1 = t * 32 + i / 4 * 8 + i % 4;
                const uint16_t* head = from + g * D;
                pair = K_BITS == 4 ? head[e2m1] | head[e2m1 + 4] << 16 : *reinterpret_cast<const uint32_t*>(head + at);
            }
            q[i] = K_BITS == 16 ? pair : pack_f16(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000));
        }
    }

    // s[i][e] is the score of head g, column 2t + e of score tile i.
    __device__ void scores(float (&s)[2][4], const uint32_t (&q)[D / 8], int stage) const
    {
        const uint32_t from = ring + stage * STAGE + lane * 16;
#pragma unroll
        for (int p = 0; p < PIECES; ++p) {
            uint32_t a[4], b[4];
            load_four(a, from + p * 512);
            load_four(b, from + (PIECES + p) * 512);
            if constexpr (K_BITS == 16) {
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    const uint32_t both[4] = {q[p * 4 + 2 * j], 0, q[p * 4 + 2 * j + 1], 0};
                    mma_bf16(s[0], both, a[2 * j], a[2 * j + 1]);
                    mma_bf16(s[1], both, b[2 * j], b[2 * j + 1]);
                }
            } else if constexpr (K_BITS == 4) {
                // Of each of the two keys the scales of blocks 2t and 2t + 1.
                const uint32_t at = ring + stage * STAGE + K_BYTES + V_BYTES + TILE * V_SCALES + lane % 4 * 2;
                uint32_t scales[2];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const uint32_t two = load_scales(at + row_of(i, lane / 4) * 8);
                    scales[i] = INT4 ? twice_from_bf16(two) : from_e4m3(two);
                }
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const int word = j / 2, code = j % 2 * 2;
                    const uint32_t pick = word < 2 ? 0x1010 : 0x3232;
                    const uint32_t f = __byte_perm(scales[0], 0, pick), h = __byte_perm(scales[1], 0, pick);
                    mma_f16(s[0], q[2 * j], 0, q[2 * j + 1], 0, times(four_bits_pair(a[word], code), f), times(four_bits_pair(a[word], code + 1), f));
                    mma_f16(s[1], q[2 * j], 0, q[2 * j + 1], 0, times(four_bits_pair(b[word], code), h), times(four_bits_pair(b[word], code + 1), h));
                }
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const uint32_t q0 = q[p * 8 + 2 * j], q1 = q[p * 8 + 2 * j + 1];
                    mma_f16(s[0], q0, 0, q1, 0, from_e4m3(a[j]), from_e4m3(a[j] >> 16));
                    mma_f16(s[1], q0, 0, q1, 0, from_e4m3(b[j]), from_e4m3(b[j] >> 16));
                }
            }
        }
    }

    // The weights of two keys as two 16-bit numbers, and what rounding lost.
    __device__ static void split_weights(uint32_t& high, uint32_t& low, float a, float b)
    {
        if constexpr (K_BITS == 16) {
            high = pack_bf16(a, b);
            low = pack_bf16(a - __uint_as_float(high << 16), b - __uint_as_float(high & 0xffff0000));
        } else {
            high = pack_f16(a, b);
            low = rest_f16(high, a, b);
        }
    }

    // Adds the tile's values to o[j]: element 16 * column + j of a head. weights: high and low part of score tile 0, then of tile 1.
    __device__ void values(float (&o)[D / 8][4], const uint32_t (&weights)[4], int stage) const
    {
        constexpr int WORDS = V_BITS / 2;  // a lane's 16 elements of a key
        const int g = lane / 4, t = lane % 4;
        const uint32_t codes = ring + stage * STAGE + K_BYTES;
        union
        {
            uint32_t one[8], two[2], four[2][4];
        } words[4];
        [[maybe_unused]] uint32_t factors[2];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = 4 * i + t;
            if constexpr (V_BITS == 4) {
                load_two(words[i].two, codes + v_place(row, g / 2) + g % 2 * 8);
            } else {
#pragma unroll
                for (int w = 0; w < WORDS / 4; ++w) load_four(words[i].four[w], codes + v_place(row, g * WORDS / 4 + w));
            }
        }
        if constexpr (V_BITS == 4) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const uint32_t at = codes + V_BYTES + (8 * i + t) * V_SCALES + (INT4 ? g / 2 * 2 : g);
                if constexpr (INT4) {
                    const uint32_t even = load_scales(at), odd = load_scales(at + 4 * V_SCALES);
                    factors[i] = pack_f16(__uint_as_float(even << 16), __uint_as_float(odd << 16));
                } else {
                    factors[i] = from_e4m3(load_scale(at) | load_scale(at + 4 * V_SCALES) << 8);
                }
            }
        }
        constexpr int EACH = 32 / V_BITS;  // elements of a word
#pragma unroll
        for (int w = 0; w < WORDS; ++w) {
            uint32_t b[2][8];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const uint32_t even = words[2 * i].one[w], odd = words[2 * i + 1].one[w];
                if constexpr (V_BITS == 4) {
                    const uint32_t halves[2] = {__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632)};
#pragma unroll
                    for (int j = 0; j < EACH; ++j) b[i][j] = times(four_bits_pair(halves[j / 4], j % 4), factors[i]);
                } else if constexpr (V_BITS == 8) {
                    const uint32_t low = __byte_perm(even, odd, 0x5140), high = __byte_perm(even, odd, 0x7362);
                    b[i][0] = from_e4m3(low);
                    b[i][1] = from_e4m3(low >> 16);
                    b[i][2] = from_e4m3(high);
                    b[i][3] = from_e4m3(high >> 16);
                } else {
                    b[i][0] = __byte_perm(even, odd, 0x5410);
                    b[i][1] = __byte_perm(even, odd, 0x7632);
                }
            }
#pragma unroll
            for (int j = 0; j < EACH; ++j) {
                if constexpr (K_BITS == 16) {
                    mma_bf16(o[w * EACH + j], weights, b[0][j], b[1][j]);
                } else {
                    mma_f16(o[w * EACH + j], weights[0], weights[1], weights[2], weights[3], b[0][j], b[1][j]);
                }
            }
        }
    }
};

// A stretch of one sequence: its averages and log-sum-exps (base 2) for the heads of a group.
__device__ void part(const Cache& cache, const uint16_t* q, int group, float factor, float v_factor, int first_tile, int end_tile,
                            float* partial, float* partial_lse)
{
    const int lane = cache.lane, g = lane / 4, t = lane % 4;
    float out[D / 8][4] = {}, most = -INFINITY, sum = 0.0f;

    int loaded = first_tile;
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage, ++loaded) {
        if (loaded < end_tile) cache.load(loaded, stage);
        copy_commit();
    }
    uint32_t query[D / 8];
    cache.query(query, q, group);
    int stage = 0;
    for (int tile = first_tile; tile < end_tile; ++tile, ++loaded) {
        copy_wait<STAGES - 2>();
        __syncwarp();
        const int free = stage == 0 ? STAGES - 1 : stage - 1;
        if (loaded < end_tile) cache.load(loaded, free);
        copy_commit();

        float s[2][4] = {};
        cache.scores(s, query, stage);
        float p[4], top = -INFINITY;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int key = tile * TILE + Cache::row_of(i / 2, 2 * t + i % 2);
            p[i] = key < cache.length ? s[i / 2][i % 2] * factor : -INFINITY;
            top = fmaxf(top, p[i]);
        }
        top = fmaxf(top, __shfl_xor_sync(FULL_MASK, top, 1));
        top = fmaxf(top, __shfl_xor_sync(FULL_MASK, top, 2));
        // Rescaling waits until it matters: f16 holds weights up to 2^8 as well as those up to 1.
        if (__any_sync(FULL_MASK, top > most + 8.0f)) {
            const float now = fmaxf(top, most), rescale = power_of_two(most - now);
            most = now;
            sum *= rescale;
#pragma unroll
            for (int j = 0; j < D / 8; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) out[j][e] *= rescale;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            p[i] = power_of_two(p[i] - most);
            sum += p[i];
        }
        uint32_t weights[4];
        Cache::split_weights(weights[0], weights[1], p[0], p[1]);
        Cache::split_weights(weights[2], weights[3], p[2], p[3]);
        cache.values(out, weights, stage);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
    copy_wait<0>();
    __syncwarp();

    sum += __shfl_xor_sync(FULL_MASK, sum, 1);
    sum += __shfl_xor_sync(FULL_MASK, sum, 2);
    if (g >= group) return;
    const float each = v_factor / sum;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
        float* to = partial + g * D + (2 * t + e) * (D / 8);
#pragma unroll
        for (int j = 0; j < D / 8; j += 4) {
            const auto whole = [&](int i) { return (out[i][e] + out[i][2 + e]) * each; };
            *reinterpret_cast<float4*>(to + j) = make_float4(whole(j), whole(j + 1), whole(j + 2), whole(j + 3));
        }
    }
    if (t == 0) partial_lse[g] = most + log2f(sum);
}

// The first kernel. A group has at most 8 heads.
static_assert(Cache::SHARED <= SHARED_BYTES, "the launch must give what the ring takes");

#if INT4
typedef uint16_t FourBitsScale;
#else
typedef uint8_t FourBitsScale;
#endif

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    decode_split(const uint16_t* __restrict__ q, const uint8_t* __restrict__ k, const uint8_t* __restrict__ v,
#if K_BITS < 16
                 const float* __restrict__ k_scale, const float* __restrict__ v_scale,
#endif
#if K_BITS == 4
                 const FourBitsScale* __restrict__ k_scales,
#endif
#if V_BITS == 4
                 const FourBitsScale* __restrict__ v_scales,
#endif
#if PAGED
                 const int* __restrict__ page_table, int page_size,
#endif
                 const int* __restrict__ lengths, float* __restrict__ partial, float* __restrict__ partial_lse, int batch, int heads,
                 int key_heads, int capacity, float scale)
{
#if K_BITS == 16
    const float *k_scale = nullptr, *v_scale = nullptr;
#endif
#if K_BITS != 4
    const FourBitsScale* k_scales = nullptr;
#endif
#if V_BITS != 4
    const FourBitsScale* v_scales = nullptr;
#endif
#if !PAGED
    const int *page_table = nullptr, page_size = 1;
#endif
    extern __shared__ __align__(128) uint8_t rings[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, worker = blockIdx.x * WARPS + warp;
    const Work work = {lengths, batch, capacity, lane};
    const int ranks = work.ranks(key_heads), rank = worker / key_heads, key_head = worker % key_heads;
    if (rank >= ranks) return;
    const Cut cut(work.before(batch), ranks);
    int tile = cut.begin(rank), end = cut.begin(rank + 1);
    if (tile >= end) return;
    int sequence, first;
    work.find(tile, sequence, first);

    const int group = heads / key_heads;
    const float factor = (k_scale == nullptr ? 1.0f : *k_scale) * scale * LOG2_E * (K_BITS == 4 ? FOUR_BITS_FACTOR : 1.0f);
    const float v_factor = (v_scale == nullptr ? 1.0f : *v_scale) * (V_BITS == 4 ? FOUR_BITS_FACTOR : 1.0f);
    for (; tile < end; ++sequence) {
        const int tiles = work.tiles(sequence), last = least(end, first + tiles);
        if (tile < last) {
            const long long row = (PAGED ? 0 : static_cast<long long>(sequence) * capacity * key_heads) + key_head;
            const Cache cache = {k + row * Cache::K_ROW,
                                 v + row * Cache::V_ROW,
                                 reinterpret_cast<const uint8_t*>(k_scales) + row * Cache::K_SCALES,
                                 reinterpret_cast<const uint8_t*>(v_scales) + row * Cache::V_SCALES,
                                 PAGED ? page_table + static_cast<long long>(sequence) * (capacity / page_size) : nullptr,
                                 page_size,
                                 key_heads,
                                 least(lengths[sequence], capacity),
                                 lane,
                                 shared_address(rings) + warp * STAGES * Cache::STAGE};
            const long long head = static_cast<long long>(sequence) * heads + key_head * group;
            const long long slot = static_cast<long long>(rank + sequence) * heads + key_head * group;
            part(cache, q + head * D, group, factor, v_factor, tile - first, last - first, partial + slot * D, partial_lse + slot);
        }
        tile = greatest(tile, last);
        first += tiles;
    }
}

// The second kernel. A row is a head of a sequence. A block merges as many rows at a time as give each of its 128 blocks work:
// with few rows many warps share one, and take its parts in turn; lanes have four elements.
extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    decode_merge(const float* __restrict__ partial, const float* __restrict__ partial_lse, const int* __restrict__ lengths,
                 float* __restrict__ out, float* __restrict__ lse, int batch, int heads, int key_heads, int capacity)
{
    constexpr int ALL = MERGE_THREADS / 32;
    __shared__ float4 sums[ALL][32];
    __shared__ float mosts[ALL], weights[ALL];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rows = heads * batch;
    const Work work = {lengths, batch, capacity, lane};
    const Cut cut(work.before(batch), work.ranks(key_heads));
    int at_once = 1;
    while (at_once < ALL && at_once * static_cast<int>(gridDim.x) < rows) at_once *= 2;
    const int share = ALL / at_once, own = warp % share;  // warps of a row, and which of them this is

    for (int group = blockIdx.x * at_once; group < rows; group += gridDim.x * at_once) {
        const int row = group + warp / share, sequence = least(row / heads, batch - 1), head = row % heads;
        const int first = work.before(sequence), end = first + work.tiles(sequence);
        float4 sum = {};
        float most = -INFINITY, weight = 0.0f;
        if (row < rows && first < end) {
            const int low = cut.rank_of(first), high = cut.rank_of(end - 1);
#pragma unroll 4
            for (int rank = low + own; rank <= high; rank += share) {
                const long long slot = static_cast<long long>(rank + sequence) * heads + head;
                const float of_part = partial_lse[slot];
                const float4 four = *reinterpret_cast<const float4*>(partial + slot * D + lane * 4);
                const float now = fmaxf(most, of_part), before = power_of_two(most - now), part = power_of_two(of_part - now);
                most = now;
                weight = weight * before + part;
                sum = make_float4(sum.x * before + four.x * part, sum.y * before + four.y * part, sum.z * before + four.z * part,
                                  sum.w * before + four.w * part);
            }
        }
        sums[warp][lane] = sum;
        if (lane == 0) mosts[warp] = most, weights[warp] = weight;
        __syncthreads();
        if (row < rows && own == 0) {
            for (int w = warp; w < warp + share; ++w) most = fmaxf(most, mosts[w]);
            sum = {};
            weight = 0.0f;
            for (int w = warp; w < warp + share && most > -INFINITY; ++w) {
                const float part = power_of_two(mosts[w] - most);
                const float4 four = sums[w][lane];
                weight += part * weights[w];
                sum = make_float4(sum.x + four.x * part, sum.y + four.y * part, sum.z + four.z * part, sum.w + four.w * part);
            }
            const float each = weight > 0.0f ? 1.0f / weight : 0.0f;
            *reinterpret_cast<float4*>(out + static_cast<long long>(row) * D + lane * 4) =
                make_float4(sum.x * each, sum.y * each, sum.z * each, sum.w * each);
            if (lane == 0) lse[row] = weight > 0.0f ? (most + log2f(weight)) / LOG2_E : -INFINITY;
        }
        __syncthreads();
    }
}
