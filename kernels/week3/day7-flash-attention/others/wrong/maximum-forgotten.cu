// Each tile begins its maximum anew, so that it may fall.
// rejected for: nan_output
// leads to: what is there already has to be rescaled
#include "mma.cuh"

// out = softmax(q k^T / sqrt(d)) v for each head, and each query's log-sum-exp. d is 64 or 128.
// A block has 64 queries of one head, a warp 16 of them. Keys and values come in tiles of 64.
//
// lockstep: block = 128
// lockstep: grid = ceil_div(queries, 64) * batch * heads
// lockstep: dynamic_shared_bytes = 2 * d * (64 + 64 + 64)
#define ROWS 64
#define KEYS 64

// Where 8 elements from `column` on of row `row` are in a tile of 64 rows: in panels of 64 columns, swizzled.
__device__ uint32_t place(uint32_t tile, int row, int column)
{
    return tile + column / 64 * (64 * 128) + swizzled(row, column / 8 % 8);
}

// Starts the copy of a tile: 64 rows of D elements from row `first`, zeros behind the last row.
template <int D>
__device__ void fetch(uint32_t tile, const uint16_t* matrix, int first, int rows)
{
    for (int i = threadIdx.x; i < 64 * D / 8; i += 128) {
        const int row = i / (D / 8), column = i % (D / 8) * 8;
        const bool inside = first + row < rows;
        copy_async(place(tile, row, column), matrix + (int64_t)(inside ? first + row : 0) * D + column, inside ? 16 : 0);
    }
    copy_commit();
}

// Left operand of a product: 16 rows of a tile from `row`, 16 columns from `column`.
__device__ void load_left(uint32_t (&a)[4], uint32_t tile, int row, int column)
{
    const int lane = threadIdx.x % 32;
    load_matrices(a, place(tile, row + lane % 16, column + lane / 16 * 8));
}

// Right operand of the scores: 16 keys from `key`, 16 of their elements from `column`. b[0], b[1] belong to the first 8 keys, b[2], b[3]
// to the others.
__device__ void load_keys(uint32_t (&b)[4], uint32_t tile, int key, int column)
{
    const int lane = threadIdx.x % 32;
    load_matrices(b, place(tile, key + lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8));
}

// Right operand of the output: 16 keys from `key`, 16 columns of their values from `column`, transposed on the way. b[0], b[1] belong to
// the first 8 columns, b[2], b[3] to the others.
__device__ void load_values(uint32_t (&b)[4], uint32_t tile, int key, int column)
{
    const int lane = threadIdx.x % 32;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(place(tile, key + lane % 16, column + lane / 16 * 8))
                 : "memory");
}

template <int D>
__device__ void attend(const uint16_t* q, const uint16_t* k, const uint16_t* v, uint16_t* out, float* lse, int heads, int key_heads, int queries,
                       int keys, int causal)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t q_tile = shared_address(shared), k_tile = q_tile + 64 * D * 2, v_tile = k_tile + 64 * D * 2;
    const int blocks = ceil_div(queries, ROWS), head = blockIdx.x / blocks, first_row = blockIdx.x % blocks * ROWS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int key_head = head / heads * key_heads + head % heads / (heads / key_heads); // of all sequences
    q += (int64_t)head * queries * D;
    k += (int64_t)key_head * keys * D;
    v += (int64_t)key_head * keys * D;

    // This lane's two rows: r = 0 is the upper one, r = 1 eight rows below. Of 8 neighboring columns it has 2t and 2t + 1.
    const int t = lane % 4, row = first_row + warp * 16 + lane / 4;
    // Keys that a row sees are those before this one.
    const int end[2] = {causal ? min(keys, row + 1 + keys - queries) : keys, causal ? min(keys, row + 9 + keys - queries) : keys};
    const float scale = rsqrtf((float)D);
    float o[D / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f};

    // Tiles from here on are not seen by any row of this block.
    const int last_row = min(first_row + ROWS, queries) - 1;
    const int tiles = max(0, ceil_div(causal ? min(keys, last_row + 1 + keys - queries) : keys, KEYS));
    fetch<D>(q_tile, q, first_row, queries);
    for (int tile = 0; tile < tiles; tile++) {
        __syncthreads(); // everyone has read the tiles before
        fetch<D>(k_tile, k, tile * KEYS, keys);
        fetch<D>(v_tile, v, tile * KEYS, keys);
        copy_wait<0>();
        __syncthreads();

        //@ scores
        // Scores: 16 rows, 64 keys. s[j] are the keys 8j to 8j + 7.
        float s[KEYS / 8][4] = {};
        for (int column = 0; column < D; column += 16) {
            uint32_t a[4], b[4];
            load_left(a, q_tile, warp * 16, column);
            for (int j = 0; j < KEYS / 16; j++) {
                load_keys(b, k_tile, j * 16, column);
                mma_bf16(s[2 * j], a, b[0], b[1]);
                mma_bf16(s[2 * j + 1], a, b[2], b[3]);
            }
        }
        //@ end

        //@ softmax
        for (int r = 0; r < 2; r++) {
            // The scale, the mask, and this row's maximum: two scores of each s[j] are this lane's, the others its neighbors'.
            float now = -INFINITY;
            for (int j = 0; j < KEYS / 8; j++) {
                for (int e = 2 * r; e < 2 * r + 2; e++) {
                    const int key = tile * KEYS + j * 8 + t * 2 + e % 2;
                    s[j][e] = key < end[r] ? s[j][e] * scale : -INFINITY;
                    now = fmaxf(now, s[j][e]);
                }
            }
            now = fmaxf(now, __shfl_xor_sync(FULL_MASK, now, 1));
            now = fmaxf(now, __shfl_xor_sync(FULL_MASK, now, 2));

            // A row that has seen no key yet has no maximum; any number will do.
            const float shift = now == -INFINITY ? 0.0f : now, factor = __expf(most[r] - shift);
            most[r] = now;
            sum[r] *= factor;
            for (int j = 0; j < KEYS / 8; j++) {
                for (int e = 2 * r; e < 2 * r + 2; e++) {
                    s[j][e] = __expf(s[j][e] - shift);
                    sum[r] += s[j][e]; // of this lane's keys; the quad's sum is made at the end
                }
            }
            for (int j = 0; j < D / 8; j++) {
                o[j][2 * r] *= factor;
                o[j][2 * r + 1] *= factor;
            }
        }
        //@ end

        //@ output
        for (int i = 0; i < KEYS / 16; i++) {
            // 16 keys: their weights are where a left operand has to be, already.
            const uint32_t a[4] = {
                pack_bf16(s[2 * i][0], s[2 * i][1]),
                pack_bf16(s[2 * i][2], s[2 * i][3]),
                pack_bf16(s[2 * i + 1][0], s[2 * i + 1][1]),
                pack_bf16(s[2 * i + 1][2], s[2 * i + 1][3]),
            };
            for (int j = 0; j < D / 16; j++) {
                uint32_t b[4];
                load_values(b, v_tile, i * 16, j * 16);
                mma_bf16(o[2 * j], a, b[0], b[1]);
                mma_bf16(o[2 * j + 1], a, b[2], b[3]);
            }
        }
        //@ end
    }

    copy_wait<0>(); // also where there was no tile
    for (int r = 0; r < 2; r++) {
        //@ end_of_row
        float total = sum[r];
        total += __shfl_xor_sync(FULL_MASK, total, 1);
        total += __shfl_xor_sync(FULL_MASK, total, 2);
        const float log_sum_exp = total > 0.0f ? most[r] + logf(total) : -INFINITY;
        //@ end
        const float share = total > 0.0f ? 1.0f / total : 0.0f;
        const int64_t line = (int64_t)head * queries + row + 8 * r;
        if (row + 8 * r < queries) {
            for (int j = 0; j < D / 8; j++) {
                *(uint32_t*)(out + line * D + j * 8 + t * 2) = pack_bf16(o[j][2 * r] * share, o[j][2 * r + 1] * share);
            }
            if (t == 0) {
                lse[line] = log_sum_exp;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
flash_attention(const uint16_t* q, const uint16_t* k, const uint16_t* v, uint16_t* out, float* lse, int batch, int heads, int key_heads, int queries,
                int keys, int d, int causal)
{
    if (d == 64) {
        attend<64>(q, k, v, out, lse, heads, key_heads, queries, keys, causal);
    } else {
        attend<128>(q, k, v, out, lse, heads, key_heads, queries, keys, causal);
    }
}
