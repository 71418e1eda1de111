// The same in INT8, a scale for each row: one block a row. Up to 8,192 columns the row stays in registers between the search for
// its largest magnitude and the division; longer rows are read twice. Where 4 does not divide k, columns come one by one.
#include "lab.cuh"

// lockstep: block = THREADS
// lockstep: grid = n
#define THREADS 256
#define HELD 8  // pieces of 4 columns that a thread holds

__device__ __forceinline__ float largest_of(float4 v)
{
    return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
}

// The largest of all threads' values, in every thread.
__device__ float block_max(float value)
{
    __shared__ float part[THREADS / 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = part[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int distance = THREADS / 64; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    return value;
}

__device__ __forceinline__ signed char code_of(float x, float scale)
{
    return scale > 0.0f ? static_cast<signed char>(__float2int_rn(x / scale)) : 0;
}

__device__ __forceinline__ char4 codes_of(float4 v, float scale)
{
    return make_char4(code_of(v.x, scale), code_of(v.y, scale), code_of(v.z, scale), code_of(v.w, scale));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_int8(const float* __restrict__ x, signed char* __restrict__ y_codes, float* __restrict__ y_scales, int n, int k)
{
    const float* from = x + (long long)blockIdx.x * k;
    signed char* to = y_codes + (long long)blockIdx.x * k;
    const float4* wide = reinterpret_cast<const float4*>(from);
    const int pieces = k % 4 == 0 ? k / 4 : 0;
    float4 held[HELD];
    float most = 0.0f;
#pragma unroll
    for (int p = 0; p < HELD; p++) {
        const int i = threadIdx.x + p * THREADS;
        held[p] = i < pieces ? __ldcs(wide + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int p = 0; p < HELD; p++) {
        most = fmaxf(most, largest_of(held[p]));
    }
    for (int i = threadIdx.x + HELD * THREADS; i < pieces; i += THREADS) {
        most = fmaxf(most, largest_of(wide[i]));
    }
    for (int i = threadIdx.x; pieces == 0 && i < k; i += THREADS) {
        most = fmaxf(most, fabsf(from[i]));
    }
    const float scale = block_max(most) / 127.0f;
    if (threadIdx.x == 0) {
        y_scales[blockIdx.x] = scale;
    }
#pragma unroll
    for (int p = 0; p < HELD; p++) {
        const int i = threadIdx.x + p * THREADS;
        if (i < pieces) {
            reinterpret_cast<char4*>(to)[i] = codes_of(held[p], scale);
        }
    }
    for (int i = threadIdx.x + HELD * THREADS; i < pieces; i += THREADS) {
        reinterpret_cast<char4*>(to)[i] = codes_of(wide[i], scale);
    }
    for (int i = threadIdx.x; pieces == 0 && i < k; i += THREADS) {
        to[i] = code_of(from[i], scale);
    }
}
