// a.n twice.
// rejected for: wrong_output
// leads to: a.count * b.count
#include "lab.cuh"
// lockstep: block_stats.block = 256
// lockstep: block_stats.grid = min(ceil_div(n, 1024), 264)
// Welford in every thread, a tree of merges in shared memory.
struct S { float n, mean, m2; };
__device__ S join(S a, S b)
{
    S r;
    r.n = a.n + b.n;
    if (r.n == 0) return a;
    const float d = b.mean - a.mean;
    r.mean = a.mean + d * (b.n / r.n);
    r.m2 = a.m2 + b.m2 + d * d * (a.n * a.n / r.n);
    return r;
}
extern "C" __global__ void block_stats(const float* x, float* partial, int n)
{
    __shared__ S s[256];
    S mine = {0, 0, 0};
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
        mine.n += 1;
        const float d = x[i] - mine.mean;
        mine.mean += d / mine.n;
        mine.m2 += d * (x[i] - mine.mean);
    }
    s[threadIdx.x] = mine;
    for (int h = 128; h > 0; h /= 2) {
        __syncthreads();
        if (threadIdx.x < h) s[threadIdx.x] = join(s[threadIdx.x], s[threadIdx.x + h]);
    }
    if (threadIdx.x == 0) {
        partial[3 * blockIdx.x + 0] = s[0].n;
        partial[3 * blockIdx.x + 1] = s[0].mean;
        partial[3 * blockIdx.x + 2] = s[0].m2;
    }
}
