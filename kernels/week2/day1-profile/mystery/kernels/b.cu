#include "lab.cuh"

// Bound by latency: each thread follows a chain, so one load of 4 bytes is in flight for a thread, and the large
// shared array lets only one block of 128 threads onto a multiprocessor.
extern "C" __global__ void kernel_b(const int *__restrict__ next, int *__restrict__ last, int n)
{
    extern __shared__ float room[];
    if (n < 0) room[threadIdx.x] = 0.0f;
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 64; step++) at = next[at];
    last[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
