// Rounds subnormals by roundf, which sends ties away from zero.
// rejected for: wrong_output
// leads to: even
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#define T 128
// lockstep: block = T
// lockstep: grid = rows
__device__ unsigned char one(float v)
{
    const float a = fabsf(v);
    const unsigned sign = __float_as_uint(v) >> 31 << 7;
    if (a != a) return 127;
    if (a > 464.0f) return sign | 126;
    if (a < 0.015625f) return sign | (unsigned)roundf(a * 512.0f);
    unsigned bits = __float_as_uint(a) - (120u << 23);
    bits = bits + 0x7ffff + (bits >> 20 & 1);
    return sign | min(bits >> 20, 126u);
}
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    __shared__ float s;
    if (threadIdx.x == 0) s = __bfloat162float(scale[blockIdx.x]);
    __syncthreads();
    const size_t base = (size_t)blockIdx.x * columns;
    int done = 0;
    if (columns % 8 == 0) {
        const uint4* in = reinterpret_cast<const uint4*>(x + base);
        uint2* out = reinterpret_cast<uint2*>(codes + base);
        for (int p = threadIdx.x; p < columns / 8; p += T) {
            const uint4 raw = in[p];
            const unsigned w[4] = {raw.x, raw.y, raw.z, raw.w};
            unsigned o[2] = {0u, 0u};
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const __half h = __ushort_as_half((unsigned short)(w[j / 2] >> (16 * (j % 2))));
                o[j / 4] |= (unsigned)one(__half2float(h) / s) << (8 * (j % 4));
            }
            out[p] = make_uint2(o[0], o[1]);
        }
        done = columns;
    }
    for (int c = done + threadIdx.x; c < columns; c += T) codes[base + c] = one(__half2float(x[base + c]) / s);
}
