#include "lab.cuh"

// Copy, rung 2: a thread copies 16 bytes.
//
// Four times the bytes on their way: 32 KB for a full multiprocessor, which is what memory needs (4.8 TB/s x 0.8 us /
// 132 multiprocessors = 29 KB). More does not help: with two or four float4 a thread the same copy was 1 to 3% slower
// on an H200. In turns with the driver's own copy it takes 1010 us for 2 GiB, the driver 1015.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * BLOCK)
#define BLOCK 256

extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y, int n)
{
    const long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        *reinterpret_cast<float4*>(y + i) = *reinterpret_cast<const float4*>(x + i);
        return;
    }
    // The last one to three elements.
    for (long long tail = i; tail < n; tail++) {
        y[tail] = x[tail];
    }
}
