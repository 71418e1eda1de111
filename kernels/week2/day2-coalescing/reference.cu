#include "lab.cuh"

// The same with four points a thread: three float4 loads are in flight before anything waits for them, which is what a
// copy's speed takes. Shared memory is filled in float4 and read in single floats with a stride of 3, without conflicts.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n, POINTS)
#define THREADS 256
#define POINTS (4 * THREADS)
#define FIELDS 3

extern "C" __global__ void __launch_bounds__(THREADS) aos_to_soa(const float* __restrict__ points,
                                                                 float* __restrict__ soa, int n)
{
    __shared__ __align__(16) float chunk[FIELDS * POINTS];
    const int first = blockIdx.x * POINTS;
    const int t = threadIdx.x;

    if (first + POINTS <= n) {
        // A block's floats begin at a multiple of 3 * 1024: aligned for float4.
        const float4* from = reinterpret_cast<const float4*>(points + FIELDS * first);
        float4 four[FIELDS];
#pragma unroll
        for (int round = 0; round < FIELDS; round++) {
            four[round] = __ldcs(from + round * THREADS + t);
        }
#pragma unroll
        for (int round = 0; round < FIELDS; round++) {
            reinterpret_cast<float4*>(chunk)[round * THREADS + t] = four[round];
        }
        __syncthreads();
#pragma unroll
        for (int field = 0; field < FIELDS; field++) {
#pragma unroll
            for (int quarter = 0; quarter < 4; quarter++) {
                const int point = quarter * THREADS + t;
                __stcs(soa + field * n + first + point, chunk[FIELDS * point + field]);
            }
        }
        return;
    }

    // The last block.
    for (int place = t; place < FIELDS * (n - first); place += THREADS) {
        chunk[place] = points[FIELDS * first + place];
    }
    __syncthreads();
    for (int point = t; first + point < n; point += THREADS) {
        for (int field = 0; field < FIELDS; field++) {
            soa[field * n + first + point] = chunk[FIELDS * point + field];
        }
    }
}
