// The chunk is dynamic shared memory, its size follows the block.
#include "lab.cuh"
// lockstep: block = 192
// lockstep: dynamic_shared_bytes = 12 * block_x
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    extern __shared__ float buf[];
    const int begin = 3 * blockIdx.x * blockDim.x;
    const int count = min(3 * (int)blockDim.x, 3 * n - begin);
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
        buf[k] = points[begin + k];
    }
    __syncthreads();
    const int me = begin / 3 + threadIdx.x;
    if (3 * (int)threadIdx.x < count) {
        soa[me] = buf[3 * threadIdx.x];
        soa[me + n] = buf[3 * threadIdx.x + 1];
        soa[me + 2 * n] = buf[3 * threadIdx.x + 2];
    }
}
