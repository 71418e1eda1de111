// Eight words further, not eight rows.
// rejected for: wrong_output
// leads to: rows 8 to 15
#include "lab.cuh"

#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
#define NATIVE 1  // sm_120a or sm_121a: the tensor core multiplies NVFP4 and its scales
#else
#define NATIVE 0
#endif

// What a code of e2m1 means, times two: a whole number.
__device__ int twice(unsigned code)
{
    const int magnitude = 0xc8643210u >> (4 * (code & 7)) & 15;
    return code & 8 ? -magnitude : magnitude;
}

// What a code of e4m3 means. Scales have no sign.
__device__ float e4m3_value(unsigned code)
{
    return code < 8 ? code * 0.001953125f : __uint_as_float((code << 20) + (120 << 23));
}

// The sum of 16 products of codes; both words hold eight codes.
__device__ float dot16(const unsigned* a, const unsigned* b)
{
    int sum = 0;
    for (int word = 0; word < 2; word++) {
        for (int j = 0; j < 32; j += 4) {
            sum += twice(a[word] >> j & 15) * twice(b[word] >> j & 15);
        }
    }
    return 0.25f * sum;
}

// C[16 x 8] = scale * A[16 x k] * transpose(B[8 x k]), one tile and one warp for each block of the grid.
// Lane 4g + t holds C[g][2t], C[g][2t + 1], C[g + 8][2t] and C[g + 8][2t + 1].
extern "C" __global__ void tile_nvfp4(const unsigned* a, const unsigned* b, const unsigned* a_scales, const unsigned* b_scales,
                                      float* c, int m, int n, int k, float scale)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const int row0 = blockIdx.x * 16, column0 = blockIdx.y * 8;
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int step = 0; step < k / 64; step++) {
#if NATIVE
        const unsigned* a_row = a + (row0 + g) * (k / 8) + step * 8;
        const unsigned* b_row = b + (column0 + g) * (k / 8) + step * 8;
        const unsigned* a_below = a_row + 8;  // eight rows further
        const unsigned a_scale = a_scales[(row0 + (t == 1 ? g + 8 : g)) * (k / 64) + step];
        const unsigned b_scale = b_scales[(column0 + g) * (k / 64) + step];
        asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 2};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a_row[t]), "r"(a_below[t]), "r"(a_row[t + 4]), "r"(a_below[t + 4]), "r"(b_row[t]), "r"(b_row[t + 4]),
                       "r"(a_scale), "r"(b_scale));
#else
        for (int i = 0; i < 4; i++) {
            const int row = row0 + g + i / 2 * 8, column = column0 + 2 * t + i % 2;
            const unsigned* from_a = a + row * (k / 8) + step * 8;
            const unsigned* from_b = b + column * (k / 8) + step * 8;
            const unsigned of_a = a_scales[row * (k / 64) + step], of_b = b_scales[column * (k / 64) + step];
            for (int group = 0; group < 4; group++) {
                const float both = e4m3_value(of_a >> (8 * group) & 255) * e4m3_value(of_b >> (8 * group) & 255);
                d[i] += both * dot16(from_a + 2 * group, from_b + 2 * group);
            }
        }
#endif
    }
    for (int i = 0; i < 4; i++) {
        c[(row0 + g + i / 2 * 8) * n + column0 + 2 * t + i % 2] = scale * d[i];
    }
}
