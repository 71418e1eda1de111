#include "lab.cuh"

// C = A * transpose(B) in MXFP8: e4m3 elements, and for each 32 of them a scale that is a power of two. All scales of A are
// 2^POWER here, and all scales of B are 2^OTHER.
#define POWER 0
#define OTHER 0

extern "C" __global__ void tile_mxfp8(const unsigned* a, const unsigned* b, float* c, int n, int k)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const int row0 = blockIdx.x * 16, column0 = blockIdx.y * 8;
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int step = 0; step < k / 32; step++) {
        const unsigned* a_row = a + (row0 + g) * (k / 4) + step * 8;
        const unsigned* a_below = a_row + 2 * k;  // eight rows further
        const unsigned* b_row = b + (column0 + g) * (k / 4) + step * 8;
        //@ mxfp8
        const unsigned a_scale = 127 + POWER, b_scale = 127 + OTHER;  // ue8m0: the exponent plus 127
        asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a_row[t]), "r"(a_below[t]), "r"(a_row[t + 4]), "r"(a_below[t + 4]), "r"(b_row[t]), "r"(b_row[t + 4]),
                       "r"(a_scale), "r"(b_scale));
        //@ end
    }
    for (int i = 0; i < 4; i++) {
        c[(row0 + g + i / 2 * 8) * n + column0 + 2 * t + i % 2] = d[i];
    }
}
