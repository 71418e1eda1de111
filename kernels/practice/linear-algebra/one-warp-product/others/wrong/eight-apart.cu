// Lanes begin eight bytes apart along K.
// rejected for: out_of_bounds
// leads to: 4 * (lane % 4)
#include "lab.cuh"

// d += a * b for a tile of 16 x 8, 32 along K, all in e4m3. Each branch is what its chip does best.
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH_FEAT_SM120_ALL)
    // Block-scaled: one scale for each 32 numbers along K. 127 is a scale of 2^0.
    uint32_t one = 0x7f7f7f7f;
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%10}, {0, 0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(one));
#elif __CUDA_ARCH__ >= 890
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    // No e4m3 here: two e4m3 numbers become two f16 numbers. The fraction moves to the top of f16's, the exponent is
    // 8 too small then, which one multiplication by 256 mends; it is exact for subnormal numbers too.
    auto decode = [](uint32_t pair) {
        uint32_t spread = (pair & 0xff) | (pair & 0xff00) << 8;
        uint32_t half = (spread & 0x00800080) << 8 | (spread & 0x007f007f) << 7;
        asm("mul.f16x2 %0, %0, %1;" : "+r"(half) : "r"(0x5c005c00));
        return half;
    };
    // The halves of each register are two steps along K of 8. A and B are taken apart alike, so the sum is the same.
    for (int step = 0; step < 2; step++) {
        uint32_t rows = a[2 * step], lower_rows = a[2 * step + 1], column = b[step];
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(decode(rows)), "r"(decode(lower_rows)), "r"(decode(rows >> 16)), "r"(decode(lower_rows >> 16)),
              "r"(decode(column)), "r"(decode(column >> 16)));
    }
#endif
}

// Block (x, y) is one warp; it makes rows 16 y and columns 8 x of c.
extern "C" __global__ void tile_product(const unsigned char* a, const unsigned char* b, float* c, int n, int k) {
    int lane = threadIdx.x, row = 16 * blockIdx.y + lane / 4, column = 8 * blockIdx.x + lane / 4;
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    auto four = [k](const unsigned char* of, int row, int at) {
        return *reinterpret_cast<const uint32_t*>(of + (long long)row * k + at);
    };
    for (int step = 0; step < k; step += 32) {
        int at = step + 8 * (lane % 4);
        uint32_t fragment_a[4] = {four(a, row, at), four(a, row + 8, at), four(a, row, at + 16), four(a, row + 8, at + 16)};
        uint32_t fragment_b[2] = {four(b, column, at), four(b, column, at + 16)};
        multiply(d, fragment_a, fragment_b);
    }
    for (int half = 0; half < 2; half++) {
        float* out = c + (long long)(row + 8 * half) * n + 8 * blockIdx.x + 2 * (lane % 4);
        out[0] = d[2 * half];
        out[1] = d[2 * half + 1];
    }
}
