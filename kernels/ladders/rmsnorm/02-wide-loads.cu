// RMS norm of rows: 16 bytes a load.
//
// lockstep: block = THREADS
// lockstep: grid = rows
//
// Against the rung before: eight elements a load, where rows begin at multiples of 16 bytes.
#include "mma.cuh"
#include <cuda_bf16.h>

#ifndef THREADS
#define THREADS 256
#endif

// The sum of all threads' values, in every thread. `part` holds one float a warp.
__device__ inline float block_sum(float value, float* part)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(FULL_MASK, value, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
    for (int warp = 0; warp < THREADS / 32; ++warp) total += part[warp];
    return total;
}

// Eight elements as floats: a bf16 is the upper half of a float.
__device__ inline void unpack(uint4 eight, float (&to)[8])
{
    uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
rms_norm(const uint16_t* x, const uint16_t* weight, uint16_t* y, float epsilon, int rows, int columns)
{
    __shared__ float part[2][THREADS / 32];
    int64_t row = blockIdx.x;
    x += row * columns;
    y += row * columns;
    auto one = [](uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); };
    int eights = columns % 8 == 0 ? columns / 8 : 0;
    float squares = 0.0f, v[8], w[8];
    for (int i = threadIdx.x; i < eights; i += THREADS) {
        unpack(reinterpret_cast<const uint4*>(x)[i], v);
#pragma unroll
        for (int e = 0; e < 8; ++e) squares += v[e] * v[e];
    }
    for (int i = eights * 8 + threadIdx.x; i < columns; i += THREADS) squares += one(x[i]) * one(x[i]);
    float scale = rsqrtf(block_sum(squares, part[0]) / columns + epsilon);
    for (int i = threadIdx.x; i < eights; i += THREADS) {
        unpack(reinterpret_cast<const uint4*>(x)[i], v);
        unpack(reinterpret_cast<const uint4*>(weight)[i], w);
        uint32_t words[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) words[e] = pack_bf16(v[2 * e] * scale * w[2 * e], v[2 * e + 1] * scale * w[2 * e + 1]);
        __stcs(reinterpret_cast<uint4*>(y) + i, make_uint4(words[0], words[1], words[2], words[3]));
    }
    for (int i = eights * 8 + threadIdx.x; i < columns; i += THREADS) y[i] = static_cast<uint16_t>(pack_bf16(one(x[i]) * scale * one(weight[i]), 0.0f));
}
