// A few blocks walk over all chunks; a second barrier protects the chunk from the next round.
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(8, ceil_div(n, 256))
struct Chunk { float v[768]; };
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ Chunk c;
    for (int first = blockIdx.x * 256; first < n; first += gridDim.x * 256) {
        const int m = min(256, n - first);
        for (unsigned k = threadIdx.x; k < 3u * m; k += blockDim.x) c.v[k] = points[3 * first + k];
        __syncthreads();
        for (unsigned k = threadIdx.x; k < 3u * m; k += blockDim.x) {
            const int f = k / m, p = k % m;
            soa[f * n + first + p] = c.v[3 * p + f];
        }
        __syncthreads();
    }
}
