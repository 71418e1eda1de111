// One block walks over all, a shared counter for each warp and kind.
#include "lab.cuh"
// lockstep: count_bad.block = 32, 32
// lockstep: count_bad.grid = 1
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    __shared__ int mine[32][3];
    if (threadIdx.x < 3) mine[threadIdx.y][threadIdx.x] = 0;
    __syncwarp();
    const double top = 1.7976931348623157e308;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < n; i += 1024) {
        const double v = x[i];
        if (!(v <= top && v >= -top)) atomicAdd(&mine[threadIdx.y][v > top ? 1 : v < -top ? 2 : 0], 1);
    }
    __syncthreads();
    if (threadIdx.y == 0 && threadIdx.x < 3) { int s = 0; for (int w = 0; w < 32; w++) s += mine[w][threadIdx.x]; counts[threadIdx.x] = s; }
}
