// Through shared memory that the launch gives.
#include "lab.cuh"
// lockstep: block = 128
// lockstep: dynamic_shared_bytes = 4 * block_x
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    extern __shared__ float s[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) c[i] = s[threadIdx.x] + b[i];
}
