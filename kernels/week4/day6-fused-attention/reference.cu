// Decode attention over a cache with K in e4m3 and V in NVFP4, on tensor cores, with nothing but the cache read from memory.
//
// A warp owns one key head and a stretch of tiles of 16 keys, cut so that all warps have equally many, across sequences of any
// lengths. Its rows travel by cp.async through a ring of its own in shared memory, so that no warp waits for another. Both
// operands become f16 in registers, which is exact: e4m3 and e2m1 times an e4m3 scale fit f16. The weights are split into two
// f16 numbers, high and low part, in rows g and g + 8 of one mma, so that they lose nothing either.
// lockstep: decode_split.grid = 396
// lockstep: decode_split.block = THREADS
// lockstep: decode_merge.grid = min(128, heads * batch)
// lockstep: decode_merge.block = MERGE_THREADS
// lockstep: size(partial) = 128 * heads * (ceil_div(2112, key_heads) + batch)
// lockstep: size(partial_lse) = heads * (ceil_div(2112, key_heads) + batch)
#include "mma.cuh"

#define THREADS 128
#define MERGE_THREADS 512
constexpr int WARPS = THREADS / 32;
constexpr int BLOCKS = 396;  // three for each of 132 multiprocessors
constexpr int D = 128;       // elements of a head
constexpr int TILE = 16;     // keys
constexpr int LEAST = 8;     // tiles of a warp, so that its partial result is worth writing
constexpr int STAGES = 3;
#if __CUDA_ARCH__ >= 1200
constexpr int RESIDENT = 2;  // blocks of a multiprocessor: 100 KB of shared memory
#else
constexpr int RESIDENT = 3;
#endif
constexpr float LOG2_E = 1.44269504088896340736f;

// ---------------------------------------------------------------- numbers

// Two e4m3 bytes (the low 16 bits) as two f16, exactly.
__device__ inline uint32_t from_e4m3(uint32_t pair)
{
    uint32_t halves;
#if __CUDA_ARCH__ >= 890
    asm("{.reg .b16 low, high;\n\tmov.b32 {low, high}, %1;\n\tcvt.rn.f16x2.e4m3x2 %0, low;}" : "=r"(halves) : "r"(pair));
#else
    // The exponent's bias is 7, that of f16 is 15: shifted into place, all is 2^8 too small.
    const uint32_t apart = (pair & 0xff) | (pair & 0xff00) << 8;
    const uint32_t small = (apart & 0x00800080) << 8 | (apart & 0x007f007f) << 7;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(halves) : "r"(small), "r"(0x5c005c00));
#endif
    return halves;
}

__device__ inline uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
    return product;
}

// Eight f16x2 out of eight e2m1 codes of key a and eight of key b: element j of both side by side.
#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300  // sm_120a, sm_121a: there is an instruction
constexpr float V_FACTOR = 1.0f;
__device__ inline void from_e2m1(uint32_t (&pairs)[8], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        uint32_t of_a, of_b;
        asm("{.reg .b8 b0, b1, b2, b3;\n\tmov.b32 {b0, b1, b2, b3}, %1;\n\tcvt.rn.f16x2.e2m1x2 %0, b0;}" : "=r"(of_a) : "r"(a >> 8 * j));
        asm("{.reg .b8 b0, b1, b2, b3;\n\tmov.b32 {b0, b1, b2, b3}, %1;\n\tcvt.rn.f16x2.e2m1x2 %0, b0;}" : "=r"(of_b) : "r"(b >> 8 * j));
        pairs[2 * j] = __byte_perm(of_a, of_b, 0x5410);
        pairs[2 * j + 1] = __byte_perm(of_a, of_b, 0x7632);
    }
}
#else
// The three bits of a magnitude go to f16's two lowest bits of the exponent and the highest of the fraction: 2^14 too small,
// and exact, since tensor cores and mul take f16's subnormal numbers as they are.
constexpr float V_FACTOR = 16384.0f;
__device__ inline void from_e2m1(uint32_t (&pairs)[8], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint32_t both = __byte_perm(a, b, half == 0 ? 0x5410 : 0x7632);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const uint32_t top = both << (12 - 4 * j);
            pairs[4 * half + j] = (top & 0x80008000) | (top >> 3 & 0x0e000e00);
        }
    }
}
#endif

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

__device__ inline float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

template <int BYTES>
__device__ inline void copy_some(uint32_t to, const void* from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES), "r"(bytes) : "memory");
}

template <typename T>
__device__ inline T load_shared(uint32_t address);
template <>
__device__ inline uint4 load_shared<uint4>(uint32_t address)
{
    uint4 v;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address) : "memory");
    return v;
}
template <>
__device__ inline uint2 load_shared<uint2>(uint32_t address)
{
    uint2 v;
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
    return v;
}
template <>
__device__ inline uint8_t load_shared<uint8_t>(uint32_t address)
{
    uint32_t v;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return static_cast<uint8_t>(v);
}

// ---------------------------------------------------------------- who does what

// All tiles of all sequences in a row are cut into `ranks` equal stretches. A stretch may begin and end within a sequence; the
// part of rank r in sequence b goes to slot r + b, which no other part has.
struct Work
{
    const int* lengths;
    int batch, capacity, lane;

    // Into how many stretches the keys of a head are cut.
    __device__ int ranks(int key_heads) const
    {
        return least(BLOCKS * WARPS / key_heads, ceil_div(batch * ceil_div(capacity, TILE), LEAST));
    }

    __device__ int tiles(int sequence) const
    {
        return sequence < batch ? ceil_div(least(greatest(lengths[sequence], 0), capacity), TILE) : 0;
    }

    __device__ int all() const
    {
        int sum = 0;
        for (int i = lane; i < batch; i += 32) sum += tiles(i);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, distance);
        return sum;
    }

    // Tiles of the sequences before one.
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
        int passed = 0;
        for (int group = 0; group < batch; group += 32) {
            const int own = tiles(group + lane);
            int sum = own;
#pragma unroll
            for (int distance = 1; distance < 32; distance *= 2) {
                const int other = __shfl_up_sync(FULL_MASK, sum, distance);
                sum += lane >= distance ? other : 0;
            }
            const unsigned beyond = __ballot_sync(FULL_MASK, passed + sum > tile);
            if (beyond != 0) {
                const int at = __ffs(beyond) - 1;
                sequence = group + at;
                first = passed + __shfl_sync(FULL_MASK, sum - own, at);
                return;
            }
            passed += __shfl_sync(FULL_MASK, sum, 31);
        }
        sequence = batch;
        first = passed;
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
    static constexpr int PIECES = D / 64;              // 16-byte pieces of a K row that a lane has
    static constexpr int K_BYTES = TILE * D;           // [2][PIECES][32 lanes] pieces of 16 bytes
    static constexpr int V_BYTES = TILE * D / 2;       // rows, pieces of 16 bytes exchanged so that reads have no bank conflict
    static constexpr int SCALES = D / 16;              // bytes of a row
    static constexpr int STAGE = K_BYTES + V_BYTES + TILE * SCALES;

    const uint8_t *k, *v, *v_scales;  // of the sequence and key head
    int stride;                       // rows of a key to the next key's
    int length, lane;
    uint32_t ring;

    // Row of a tile that column c of score tile i stands for: the four that lanes 4g to 4g + 3 read together are neighbors.
    __device__ static int row_of(int i, int c) { return 8 * i + 4 * (c & 1) + (c >> 1); }

    __device__ static uint32_t v_place(int row, int piece)
    {
        return row * (D / 2) + ((piece ^ (row & 2)) << 4);
    }

    __device__ void load(int tile, int stage) const
    {
        const uint32_t to = ring + stage * STAGE;
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int key = tile * TILE + row_of(i, g);
            const bool is_there = key < length;
            const uint8_t* from = k + static_cast<long long>(is_there ? key : 0) * stride * D + t * 16;
#pragma unroll
            for (int p = 0; p < PIECES; ++p) {
                copy_async(to + ((i * PIECES + p) * 32 + lane) * 16, from + p * 64, is_there ? 16 : 0);
            }
        }
#pragma unroll
        for (int p = lane; p < TILE * D / 32; p += 32) {
            const int row = p / (D / 32), piece = p % (D / 32), key = tile * TILE + row;
            const bool is_there = key < length;
            const uint8_t* from = v + static_cast<long long>(is_there ? key : 0) * stride * (D / 2) + piece * 16;
            copy_async(to + K_BYTES + v_place(row, piece), from, is_there ? 16 : 0);
        }
        if (lane < TILE) {
            const int key = tile * TILE + lane;
            const bool is_there = key < length;
            const uint8_t* from = v_scales + static_cast<long long>(is_there ? key : 0) * stride * SCALES;
            copy_some<SCALES>(to + K_BYTES + V_BYTES + lane * SCALES, from, is_there ? SCALES : 0);
        }
    }

    // scores[i][2 * row half + e]: head g, column 2t + e of score tile i.
    __device__ void scores(float (&s)[2][4], const uint32_t (&q)[PIECES * 8], int stage) const
    {
        const uint32_t from = ring + stage * STAGE + lane * 16;
#pragma unroll
        for (int p = 0; p < PIECES; ++p) {
            const uint4 first = load_shared<uint4>(from + p * 512), second = load_shared<uint4>(from + (PIECES + p) * 512);
            const uint32_t a[4] = {first.x, first.y, first.z, first.w}, b[4] = {second.x, second.y, second.z, second.w};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const uint32_t q0 = q[p * 8 + 2 * j], q1 = q[p * 8 + 2 * j + 1];
                mma_f16(s[0], q0, 0, q1, 0, from_e4m3(a[j]), from_e4m3(a[j] >> 16));
                mma_f16(s[1], q0, 0, q1, 0, from_e4m3(b[j]), from_e4m3(b[j] >> 16));
            }
        }
    }

    // Adds the tile's values. weights: high part, low part of score tile 0, then those of tile 1.
    __device__ void values(float (&o)[D / 8][4], const uint32_t (&weights)[4], int stage) const
    {
        const int g = lane / 4, t = lane % 4;
        const uint32_t codes = ring + stage * STAGE + K_BYTES, scales = codes + V_BYTES;
        uint32_t words[4][2], factors[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            uint32_t bytes[2];
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const int row = 8 * i + 4 * e + t;
                const uint2 both = load_shared<uint2>(codes + v_place(row, g / 2) + g % 2 * 8);
                words[2 * i + e][0] = both.x;
                words[2 * i + e][1] = both.y;
                bytes[e] = load_shared<uint8_t>(scales + row * SCALES + g);
            }
            factors[i] = from_e4m3(bytes[0] | bytes[1] << 8);
        }
#pragma unroll
        for (int w = 0; w < 2; ++w) {
            uint32_t b0[8], b1[8];
            from_e2m1(b0, words[0][w], words[1][w]);
            from_e2m1(b1, words[2][w], words[3][w]);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                mma_f16(o[w * 8 + j], weights[0], weights[1], weights[2], weights[3], times(b0[j], factors[0]), times(b1[j], factors[1]));
            }
        }
    }
};

__device__ void part(const Cache& cache, const uint16_t* q, int group, float factor, float v_scale, int first_tile, int end_tile,
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
#pragma unroll
    for (int i = 0; i < D / 64; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int at = g * D + (t + 4 * i) * 16 + 2 * j;
            const uint32_t pair = g < group ? *reinterpret_cast<const uint32_t*>(q + at) : 0;
            query[i * 8 + j] = pack_f16(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000));
        }
    }
    int stage = 0;
    for (int tile = first_tile; tile < end_tile; ++tile, ++loaded) {
        copy_wait<STAGES - 2>();
        __syncwarp();
        const int free = stage == 0 ? STAGES - 1 : stage - 1;
        if (loaded < end_tile) cache.load(loaded, free);
        copy_commit();

        float s[2][4] = {};
        cache.scores(s, query, stage);
        float p[4];
        float top = -INFINITY;
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
        weights[0] = pack_f16(p[0], p[1]);
        weights[1] = rest_f16(weights[0], p[0], p[1]);
        weights[2] = pack_f16(p[2], p[3]);
        weights[3] = rest_f16(weights[2], p[2], p[3]);
        cache.values(out, weights, stage);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
    copy_wait<0>();
    __syncwarp();

    sum += __shfl_xor_sync(FULL_MASK, sum, 1);
    sum += __shfl_xor_sync(FULL_MASK, sum, 2);
    if (g >= group) return;
    const float each = v_scale * V_FACTOR / sum;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
        float* to = partial + g * D + (2 * t + e) * (D / 8);
#pragma unroll
        for (int j = 0; j < D / 8; j += 4) {
            float4 four;
            four.x = (out[j][e] + out[j][2 + e]) * each;
            four.y = (out[j + 1][e] + out[j + 1][2 + e]) * each;
            four.z = (out[j + 2][e] + out[j + 2][2 + e]) * each;
            four.w = (out[j + 3][e] + out[j + 3][2 + e]) * each;
            *reinterpret_cast<float4*>(to + j) = four;
        }
    }
    if (t == 0) partial_lse[g] = most + log2f(sum);
}

__device__ void split(const uint16_t* q, const uint8_t* k, const float* k_scale, const uint8_t* v, const uint8_t* v_scales,
                      const float* v_scale, const int* lengths, float* partial, float* partial_lse, int batch, int heads, int key_heads,
                      int capacity, float scale, uint32_t rings)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, worker = blockIdx.x * WARPS + warp;
    const Work work = {lengths, batch, capacity, lane};
    const int ranks = work.ranks(key_heads), rank = worker / key_heads, key_head = worker % key_heads;
    if (rank >= ranks) return;
    const Cut cut(work.all(), ranks);
    const int end = cut.begin(rank + 1);
    int tile = cut.begin(rank);
    if (tile >= end) return;
    int sequence, first;
    work.find(tile, sequence, first);

    const int group = heads / key_heads;
    const float factor = *k_scale * scale * LOG2_E;
    for (; tile < end; ++sequence) {
        const int tiles = work.tiles(sequence);
        const int last = least(end, first + tiles);
        if (tile < last) {
            const long long row = static_cast<long long>(sequence) * capacity * key_heads + key_head;
            const Cache cache = {k + row * D,
                                    v + row * (D / 2),
                                    v_scales + row * (D / 16),
                                    key_heads,
                                    least(lengths[sequence], capacity),
                                    lane,
                                    rings + warp * STAGES * Cache::STAGE};
            const long long slot = static_cast<long long>(rank + sequence) * heads + key_head * group;
            part(cache, q + (static_cast<long long>(sequence) * heads + key_head * group) * D, group, factor, *v_scale, tile - first,
                    last - first, partial + slot * D, partial_lse + slot);
        }
        tile = greatest(tile, last);
        first += tiles;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    decode_split(const uint16_t* __restrict__ q, const uint8_t* __restrict__ k_codes, const float* __restrict__ k_scale,
                 const uint8_t* __restrict__ v_codes, const uint8_t* __restrict__ v_scales, const float* __restrict__ v_scale,
                 const int* __restrict__ lengths, float* __restrict__ partial, float* __restrict__ partial_lse, int batch, int heads,
                 int key_heads, int capacity, float scale)
{
    __shared__ __align__(128) uint8_t rings[WARPS * STAGES * Cache::STAGE];
    split(q, k_codes, k_scale, v_codes, v_scales, v_scale, lengths, partial, partial_lse, batch, heads, key_heads, capacity, scale,
               shared_address(rings));
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
    const Cut cut(work.all(), work.ranks(key_heads));
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
        if (lane == 0) {
            mosts[warp] = most;
            weights[warp] = weight;
        }
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
