#include "lab.cuh"

// One warp a row, in float4 where the rows are aligned for it: each lane has four loads of 16 bytes in flight, and adds
// them up in four sums that do not wait for each other.
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8

__device__ float of(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) row_sums(const float* __restrict__ x, float* __restrict__ y,
                                                                  int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const float* from = x + (long long)row * columns;
    float sum[4] = {};

    if (columns % 4 == 0) {
        const float4* four = reinterpret_cast<const float4*>(from);
        const int count = columns / 4;
        int i = lane;
        for (; i + 96 < count; i += 128) {
            const float4 a = __ldcs(four + i), b = __ldcs(four + i + 32);
            const float4 c = __ldcs(four + i + 64), d = __ldcs(four + i + 96);
            sum[0] += of(a);
            sum[1] += of(b);
            sum[2] += of(c);
            sum[3] += of(d);
        }
        for (; i < count; i += 32) {
            sum[0] += of(__ldcs(four + i));
        }
    } else {
        int i = lane;
        for (; i + 96 < columns; i += 128) {
            const float a = __ldcs(from + i), b = __ldcs(from + i + 32);
            const float c = __ldcs(from + i + 64), d = __ldcs(from + i + 96);
            sum[0] += a;
            sum[1] += b;
            sum[2] += c;
            sum[3] += d;
        }
        for (; i < columns; i += 32) {
            sum[0] += __ldcs(from + i);
        }
    }

    float total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        total += __shfl_xor_sync(FULL_MASK, total, distance);
    }
    if (lane == 0) {
        y[row] = total;
    }
}
