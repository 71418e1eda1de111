#include "lab.cuh"

// Each thread looks at 16 floats in four loads of 16 bytes and counts in registers. A float is not finite when its exponent is all
// ones, and that is rare, so the usual way is one comparison for each float. Then a warp adds up, and a block: three atomics for a
// block at most.
// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, 16 * THREADS)
#define THREADS 256

__device__ void look(unsigned bits, int& nan, int& plus, int& minus)
{
    const unsigned size = bits & 0x7fffffffu;
    if (size >= 0x7f800000u) {
        nan += size > 0x7f800000u;
        plus += bits == 0x7f800000u;
        minus += bits == 0xff800000u;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) count_bad(const float* __restrict__ x, int* counts, int n)
{
    __shared__ int total[3];
    if (threadIdx.x < 3) {
        total[threadIdx.x] = 0;
    }
    __syncthreads();

    int nan = 0, plus = 0, minus = 0;
    const int first = blockIdx.x * (16 * THREADS) + 4 * threadIdx.x;
    if ((blockIdx.x + 1) * (16 * THREADS) <= n) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            v[k] = __ldcs(reinterpret_cast<const uint4*>(x + first + k * 4 * THREADS));
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            look(v[k].x, nan, plus, minus);
            look(v[k].y, nan, plus, minus);
            look(v[k].z, nan, plus, minus);
            look(v[k].w, nan, plus, minus);
        }
    } else {
        for (int i = blockIdx.x * (16 * THREADS) + threadIdx.x; i < n; i += THREADS) {
            look(__float_as_uint(x[i]), nan, plus, minus);
        }
    }

    // 10 bits for each counter: a warp looks at 512 floats.
    unsigned packed = nan | plus << 10 | minus << 20;
    packed = __reduce_add_sync(FULL_MASK, packed);
    if (threadIdx.x % 32 == 0 && packed != 0) {
        atomicAdd(&total[0], (int)(packed & 1023));
        atomicAdd(&total[1], (int)(packed >> 10 & 1023));
        atomicAdd(&total[2], (int)(packed >> 20));
    }
    __syncthreads();
    if (threadIdx.x < 3 && total[threadIdx.x] != 0) {
        atomicAdd(&counts[threadIdx.x], total[threadIdx.x]);
    }
}
