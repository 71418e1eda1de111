#include "lab.cuh"

// Vector addition, rung 2: a thread adds four neighbors, with loads and a store of 16 bytes.
//
// Four times the bytes on their way for each thread, 64 KB for a full multiprocessor, and a quarter of the
// instructions. Two float4 of each array were no faster on an H200. In turns with torch.add in one process
// (`lockstep bench --ladder vector-add --rivals`) it takes 1471 us for 2^29 elements, torch.add 1475; 2^20 take as long
// from memory (7.5 us), 2^22 1.5% longer (17.2 and 16.9 us). With the arrays in L2 it is 3% ahead at 2^20 (3.13 us).
// Blocks of 128 threads are as fast but for that: there they took 3.45 us, as twice as many have to be started. A float4
// must lie at a multiple of 16 bytes, as every fourth float of an array does; the last one to three elements are added
// one by one.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * BLOCK)
#define BLOCK 256

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      int n)
{
    const long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        const float4 x = *reinterpret_cast<const float4*>(a + i);
        const float4 y = *reinterpret_cast<const float4*>(b + i);
        *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        return;
    }
    for (long long tail = i; tail < n; tail++) {
        c[tail] = a[tail] + b[tail];
    }
}
