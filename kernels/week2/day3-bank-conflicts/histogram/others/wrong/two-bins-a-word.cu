// Counts in halves of a word, which overflow.
// rejected for: wrong_output
// leads to: 65,535
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 131072)
extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins)
{
    __shared__ unsigned packed[128];
    if (threadIdx.x < 128) packed[threadIdx.x] = 0;
    __syncthreads();
    const int end = min(n, (int)(blockIdx.x + 1) * 131072);
    for (int i = blockIdx.x * 131072 + threadIdx.x; i < end; i += 256) {
        const int v = values[i];
        atomicAdd(&packed[v >> 1], 1u << (16 * (v & 1)));
    }
    __syncthreads();
    if (threadIdx.x < bins) {
        const int c = packed[threadIdx.x >> 1] >> (16 * (threadIdx.x & 1)) & 0xffff;
        if (c > 0) asm volatile("red.global.add.s32 [%0], %1;" ::"l"(counts + threadIdx.x), "r"(c) : "memory");
    }
}
