#include "mma.cuh"

// out = softmax(q k^T / 4) v, for 16 queries, 16 keys and 16 elements each. One warp does one head.
// Two neighboring elements of a row, as one register.
__device__ uint32_t pair(const uint16_t* matrix, int row, int column)
{
    return *(const uint32_t*)(matrix + row * 16 + column);
}

// Two elements of a column, one below the other.
__device__ uint32_t column_pair(const uint16_t* matrix, int row, int column)
{
    return matrix[row * 16 + column] | (uint32_t)matrix[(row + 1) * 16 + column] << 16;
}

extern "C" __global__ void two_products(const uint16_t* q, const uint16_t* k, const uint16_t* v, float* out)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    q += blockIdx.x * 256;
    k += blockIdx.x * 256;
    v += blockIdx.x * 256;
    out += blockIdx.x * 256;

    // Scores: s[j] are keys 8j to 8j + 7. s[j][0], s[j][1] are row g, keys 2t and 2t + 1; s[j][2], s[j][3] are row g + 8.
    const uint32_t a[4] = {pair(q, g, 2 * t), pair(q, g + 8, 2 * t), pair(q, g, 2 * t + 8), pair(q, g + 8, 2 * t + 8)};
    float s[2][4] = {};
    for (int j = 0; j < 2; j++) {
        mma_bf16(s[j], a, pair(k, j * 8 + g, 2 * t), pair(k, j * 8 + g, 2 * t + 8));
    }

    // Softmax, with the quad's maximum and sum.
    for (int r = 0; r < 4; r += 2) {
        float most = fmaxf(fmaxf(s[0][r], s[0][r + 1]), fmaxf(s[1][r], s[1][r + 1]));
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 1));
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 2));
        float sum = 0.0f;
        for (int e = r; e < r + 2; e++) {
            s[0][e] = expf((s[0][e] - most) * 0.25f);
            s[1][e] = expf((s[1][e] - most) * 0.25f);
            sum += s[0][e] + s[1][e];
        }
        sum += __shfl_xor_sync(FULL_MASK, sum, 1);
        sum += __shfl_xor_sync(FULL_MASK, sum, 2);
        for (int e = r; e < r + 2; e++) {
            s[0][e] /= sum;
            s[1][e] /= sum;
        }
    }

    // The weights as left operand: w[0] is row g, keys 2t and 2t + 1; w[1] row g + 8; w[2] and w[3] the same, 8 keys further.
    const uint32_t w[4] = {
        pack_bf16(s[0][0], s[0][1]),
        pack_bf16(s[0][2], s[0][3]),
        pack_bf16(s[1][0], s[1][1]),
        pack_bf16(s[1][2], s[1][3]),
    };
    for (int j = 0; j < 2; j++) {
        float o[4] = {};
        mma_bf16(o, w, column_pair(v, 2 * t, j * 8 + g), column_pair(v, 2 * t + 8, j * 8 + g));
        *(float2*)(out + g * 16 + j * 8 + 2 * t) = make_float2(o[0], o[1]);
        *(float2*)(out + (g + 8) * 16 + j * 8 + 2 * t) = make_float2(o[2], o[3]);
    }
}
