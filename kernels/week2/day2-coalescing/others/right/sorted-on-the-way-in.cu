// Sorts by field while filling shared memory, and stores straight out of it.
#include "lab.cuh"
#define B 256
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float field[3][B];
    const int first = blockIdx.x * B;
    for (int e = threadIdx.x; e < 3 * B; e += B) {
        if (3 * first + e < 3 * n) field[e % 3][e / 3] = points[3 * first + e];
    }
    __syncthreads();
    const int p = first + threadIdx.x;
    if (p >= n) return;
    soa[p] = field[0][threadIdx.x];
    soa[n + p] = field[1][threadIdx.x];
    soa[2 * n + p] = field[2][threadIdx.x];
}
