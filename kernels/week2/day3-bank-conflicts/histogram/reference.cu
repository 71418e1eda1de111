#include "lab.cuh"

// The same with four int4 loads in flight for each thread, and as many blocks as fit on a large GPU at once.
// lockstep: block = 512
// lockstep: grid = min(528, ceil_div(n, 8192))
#define BINS 256
#define THREADS 512

extern "C" __global__ void __launch_bounds__(THREADS) histogram(const int* __restrict__ values,
                                                                int* __restrict__ counts, int n, int bins)
{
    __shared__ int mine[BINS * 32];
    const int lane = threadIdx.x % 32;
    for (int k = threadIdx.x; k < BINS * 32; k += THREADS) {
        mine[k] = 0;
    }
    __syncthreads();

    const int all = gridDim.x * THREADS, me = blockIdx.x * THREADS + threadIdx.x;
    const int4* four = reinterpret_cast<const int4*>(values);
    const int count = n / 4;
    int i = me;
    for (; i + 3LL * all < count; i += 4 * all) {
        int4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            v[k] = __ldcs(four + i + k * all);
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            atomicAdd(&mine[32 * v[k].x + lane], 1);
            atomicAdd(&mine[32 * v[k].y + lane], 1);
            atomicAdd(&mine[32 * v[k].z + lane], 1);
            atomicAdd(&mine[32 * v[k].w + lane], 1);
        }
    }
    for (; i < count; i += all) {
        const int4 v = __ldcs(four + i);
        atomicAdd(&mine[32 * v.x + lane], 1);
        atomicAdd(&mine[32 * v.y + lane], 1);
        atomicAdd(&mine[32 * v.z + lane], 1);
        atomicAdd(&mine[32 * v.w + lane], 1);
    }
    for (int k = 4 * count + me; k < n; k += all) {
        atomicAdd(&mine[32 * values[k] + lane], 1);
    }
    __syncthreads();

    for (int b = threadIdx.x / 32; b < bins; b += THREADS / 32) {
        int sum = mine[32 * b + lane];
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(FULL_MASK, sum, distance);
        }
        if (lane == 0 && sum != 0) {
            atomicAdd(&counts[b], sum);
        }
    }
}
