// One query against n keys: eight loads of each lane on their way.
//
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS * KEYS)
//
// Against the rung before: a warp has 16 keys and starts all its loads before it uses the first. The query is fetched once for all.
#include "lab.cuh"
#include <cuda_bf16.h>

#ifndef WARPS
#define WARPS 8
#endif
// Keys of a warp.
#ifndef KEYS
#define KEYS 16
#endif

// Eight elements as floats: a bf16 is the upper half of a float.
__device__ void unpack(uint4 eight, float* to)
{
    const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
}

__device__ float dot8(uint4 key, const float* query)
{
    float element[8];
    unpack(key, element);
    float even = 0.0f, odd = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        even = fmaf(element[2 * i], query[2 * i], even);
        odd = fmaf(element[2 * i + 1], query[2 * i + 1], odd);
    }
    return even + odd;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    dot_scores(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ keys, float* __restrict__ scores, int n, int d)
{
    const int lane = threadIdx.x % 32;
    const long long first = (long long)(blockIdx.x * WARPS + threadIdx.x / 32) * KEYS;
    if (first >= n) {
        return;
    }

    if (d == 128) {
        const int part = lane % 16, half = lane / 16;
        float query[8];
        unpack(reinterpret_cast<const uint4*>(q)[part], query);
        const uint4* from = reinterpret_cast<const uint4*>(keys);
        uint4 mine[KEYS / 2];
#pragma unroll
        for (int k = 0; k < KEYS / 2; k++) {
            const long long key = first + 2 * k + half;
            mine[k] = key < n ? __ldcs(from + key * 16 + part) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < KEYS / 2; k++) {
            float sum = dot8(mine[k], query);
#pragma unroll
            for (int distance = 8; distance > 0; distance /= 2) {
                sum += __shfl_xor_sync(FULL_MASK, sum, distance);
            }
            const long long key = first + 2 * k + half;
            if (part == 0 && key < n) {
                scores[key] = sum;
            }
        }
        return;
    }

    // Any other length: one key at a time, in single elements unless the rows are aligned to 16 bytes.
    for (int k = 0; k < KEYS && first + k < n; k++) {
        const __nv_bfloat16* key = keys + (first + k) * d;
        float sum = 0.0f;
        if (d % 8 == 0) {
            for (int i = lane * 8; i < d; i += 32 * 8) {
                float query[8];
                unpack(*reinterpret_cast<const uint4*>(q + i), query);
                sum += dot8(*reinterpret_cast<const uint4*>(key + i), query);
            }
        } else {
            for (int i = lane; i < d; i += 32) {
                sum = fmaf(__bfloat162float(q[i]), __bfloat162float(key[i]), sum);
            }
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(FULL_MASK, sum, distance);
        }
        if (lane == 0) {
            scores[first + k] = sum;
        }
    }
}
