#include "lab.cuh"
#include <cuda_bf16.h>

#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
#define NATIVE 1
#else
#define NATIVE 0
#endif

// NVFP4 of bf16. Two lanes share a block of 16: each loads 16 bytes, one shuffle finds the largest magnitude of both, each
// stores 4 bytes. They have two blocks at a time, and each lane makes the scale of one. Everything is exact, and little is slow:
// reciprocals are divided out once for a block or a thread, and from one two fused multiply-adds make what a division would.
// k is a multiple of 16, so blocks can be counted over the whole tensor.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n * (k / 8), THREADS * PIECES)
#define THREADS 256
#define PIECES 4  // of 8 elements, for each thread

// A scale as e4m3, rounded to nearest even; not below 0, 448 at most.
__device__ __forceinline__ unsigned e4m3_code(float x)
{
#if __CUDA_ARCH__ >= 890
    unsigned short two;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(x));
    return two;
#else
    const unsigned bits = __float_as_uint(x);
    const unsigned small = __float2int_rn(x * 512.0f);
    const unsigned large = ((bits + 0x7ffff + (bits >> 20 & 1)) >> 20) - (120 << 3);
    return x < 0.015625f ? small : min(large, 0x7eu);
#endif
}

__device__ __forceinline__ float e4m3_value(unsigned code)
{
    return code < 8 ? code * 0.001953125f : __uint_as_float((code << 20) + (120 << 23));
}

// a / b, exactly as a division rounds it, from r = 1 / b (Markstein). Neither may be at the ends of the range.
// The remainder is taken as near * b - a: the other way round -0 would become 0.
__device__ __forceinline__ float quotient(float a, float b, float r)
{
    const float near = a * r;
    return fmaf(-fmaf(near, b, -a), r, near);
}

// Eight codes of q, element i in bits 4i to 4i + 3. `words` hold the same eight numbers in bf16, undivided: for their signs.
__device__ __forceinline__ unsigned eight_codes(const float (&q)[8], const unsigned (&words)[4])
{
    unsigned packed = 0;
#if NATIVE
    asm("{ .reg .b8 a, b, c, d;\n"
        "cvt.rn.satfinite.e2m1x2.f32 a, %2, %1;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b, %4, %3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 c, %6, %5;\n"
        "cvt.rn.satfinite.e2m1x2.f32 d, %8, %7;\n"
        "mov.b32 %0, {a, b, c, d}; }"
        : "=r"(packed)
        : "f"(q[0]), "f"(q[1]), "f"(q[2]), "f"(q[3]), "f"(q[4]), "f"(q[5]), "f"(q[6]), "f"(q[7]));
    return packed;
#else
    // The steps of e2m1 are 0.5 below 2, 1 below 4, then 2: half of the power of two p at or below m, where p is at least 1.
    // p * 2^22 + m rounds m to such steps, and its low bits count them: 0 to 4. Each power of two above 1 adds 2 codes. What
    // p * 2^22 has in the bits above, and the 127 that exponents have added, is the same for all: it goes at the end.
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const float m = fminf(fabsf(q[i]), 6.0f);
        const unsigned p = max(__float_as_uint(m) & 0x7f800000u, 0x3f800000u);
        const unsigned rounded = __float_as_uint(fmaf(__uint_as_float(p), 4194304.0f, m));
        packed += (rounded - p) << (4 * i);
        packed += i < 6 ? p >> (22 - 4 * i) : p << (4 * i - 22);  // (p >> 22) << 4i: p has no bits below 23
    }
    packed -= ((22u << 23) + 254u) * 0x11111111u;
    // Signs: the top bytes of elements 0, 2, 1, 3 and of 4, 6, 5, 7; then those of even elements, and those of odd ones.
    const unsigned first = __byte_perm(words[0], words[1], 0x7351), last = __byte_perm(words[2], words[3], 0x7351);
    const unsigned even = __byte_perm(first, last, 0x5410), odd = __byte_perm(first, last, 0x7632);
    return packed | (even >> 4 & 0x08080808u) | (odd & 0x80808080u);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_nvfp4(const uint4* __restrict__ x, const float* __restrict__ y_scale, unsigned* __restrict__ y_codes,
                   unsigned char* __restrict__ y_scales, int n, int k)
{
    const long long pieces = (long long)n * (k / 8);
    const long long first = (long long)blockIdx.x * (THREADS * PIECES) + threadIdx.x;
    const float tensor_scale = *y_scale, per_tensor_scale = 1.0f / tensor_scale;
    uint4 eight[PIECES];
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
        const long long piece = first + i * THREADS;
        eight[i] = piece < pieces ? __ldcs(x + piece) : make_uint4(0, 0, 0, 0);
    }
    const bool odd = threadIdx.x % 2;
#pragma unroll
    for (int i = 0; i < PIECES; i += 2) {
        unsigned most[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const uint4 v = eight[i + h];
            // Without its sign a bf16 is ordered as a whole number is, so magnitudes can be compared two at a time.
            const unsigned two = __vmaxu2(__vmaxu2(v.x & 0x7fff7fffu, v.y & 0x7fff7fffu),
                                          __vmaxu2(v.z & 0x7fff7fffu, v.w & 0x7fff7fffu));
            const unsigned one = max(two << 16, two & 0xffff0000u);
            most[h] = max(one, __shfl_xor_sync(FULL_MASK, one, 1));
        }
        // Both lanes know the largest of both blocks. The even lane makes the scale of the first, the odd lane that of the second.
        const float largest = __uint_as_float(odd ? most[1] : most[0]);
        const unsigned scale = e4m3_code(quotient(quotient(largest, 6.0f, 1.0f / 6.0f), tensor_scale, per_tensor_scale));
        const float factor = e4m3_value(scale) * tensor_scale;
        const float reciprocal = 1.0f / factor;
        const float other_factor = __shfl_xor_sync(FULL_MASK, factor, 1);
        const float other_reciprocal = __shfl_xor_sync(FULL_MASK, reciprocal, 1);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const bool mine = odd == (h == 1);
            const float f = mine ? factor : other_factor, r = mine ? reciprocal : other_reciprocal;
            const uint4 v = eight[i + h];
            const unsigned words[4] = {v.x, v.y, v.z, v.w};
            float q[8];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const float value = __uint_as_float(j % 2 ? words[j / 2] & 0xffff0000u : words[j / 2] << 16);
                q[j] = quotient(value, f, r);
            }
            const long long piece = first + (i + h) * THREADS;
            if (piece < pieces) {
                __stcs(y_codes + piece, f > 0.0f ? eight_codes(q, words) : 0);
                if (mine) {
                    y_scales[piece / 2] = static_cast<unsigned char>(scale);
                }
            }
        }
    }
}
