#include "lab.cuh"
#include <cuda_fp16.h>

// Eight elements a thread and load in both launches: 16 bytes in, and 8 codes out in one store.
// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 8192), 1056)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, 2048)

__device__ __half2 as_half2(unsigned word)
{
    return *reinterpret_cast<const __half2*>(&word);
}

// The larger magnitude in both halves. FP16 without its sign is in the order of whole numbers, but not two in a word:
// __hmax2 does both at once, and of a number and a NaN it gives the number, as fmaxf does.
__device__ __half2 larger(__half2 a, __half2 b)
{
    return __hmax2(a, __habs2(b));
}

extern "C" __global__ void __launch_bounds__(256) find_amax(const __half* __restrict__ x, unsigned* amax, int n)
{
    const int threads = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4* eights = reinterpret_cast<const uint4*>(x);
    __half2 most2 = __float2half2_rn(0.0f);
    int k = thread;
    for (; k + 3 * threads < n / 8; k += 4 * threads) {  // four loads under way
        uint4 e[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            e[j] = eights[k + j * threads];
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            most2 = larger(larger(most2, as_half2(e[j].x)), as_half2(e[j].y));
            most2 = larger(larger(most2, as_half2(e[j].z)), as_half2(e[j].w));
        }
    }
    for (; k < n / 8; k += threads) {
        const uint4 e = eights[k];
        most2 = larger(larger(most2, as_half2(e.x)), as_half2(e.y));
        most2 = larger(larger(most2, as_half2(e.z)), as_half2(e.w));
    }
    float most = fmaxf(__low2float(most2), __high2float(most2));
    if (thread < n % 8) {
        most = fmaxf(most, fabsf(__half2float(x[n / 8 * 8 + thread])));
    }
    // One atomic a block: of the bits, which for numbers from 0 on are in the same order.
    __shared__ unsigned parts[8];
    const unsigned of_warp = __reduce_max_sync(FULL_MASK, __float_as_uint(most));
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = of_warp;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned of_block = parts[0];
        for (int warp = 1; warp < 8; warp++) {
            of_block = max(of_block, parts[warp]);
        }
        atomicMax(amax, of_block);
    }
}

// x / scale as IEEE division rounds it, with inverse = 1 / scale: a product, and what it was off by.
__device__ int code_of(float x, float scale, float inverse)
{
    const float guess = x * inverse;
    return (int)rintf(fmaf(fmaf(-guess, scale, x), inverse, guess));
}

extern "C" __global__ void __launch_bounds__(256)
    quantize(const __half* __restrict__ x, const unsigned* amax, signed char* __restrict__ codes, float* scale, int n)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const float of_all = __uint_as_float(*amax) / 127.0f;
    if (thread == 0) {
        *scale = of_all;
    }
    const float divisor = of_all == 0.0f ? 1.0f : of_all;  // then all elements are 0 as well
    const float inverse = 1.0f / divisor;
    if (8 * thread + 7 < n) {
        const uint4 e = __ldcs(reinterpret_cast<const uint4*>(x) + thread);
        const unsigned words[4] = {e.x, e.y, e.z, e.w};
        unsigned out[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float2 two = __half22float2(as_half2(words[k]));
            const unsigned low = code_of(two.x, divisor, inverse) & 255;
            const unsigned high = code_of(two.y, divisor, inverse) & 255;
            out[k / 2] |= (low | high << 8) << (16 * (k % 2));
        }
        __stcs(reinterpret_cast<uint2*>(codes) + thread, make_uint2(out[0], out[1]));
        return;
    }
    for (int i = 8 * thread; i < n; i++) {
        codes[i] = code_of(__half2float(x[i]), divisor, inverse);
    }
}
