#include "lab.cuh"

// The sums are made in shared memory, one slot per thread, and then copied out in pairs by the first half of the
// threads. Between the two steps a thread reads slots that other warps write, with no barrier in between.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    __shared__ float slot[1024];
    const int first = blockIdx.x * blockDim.x;
    const int t = threadIdx.x;
    const int i = first + t;

    slot[t] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        slot[t] += b[i];
    }
    // Missing: __syncthreads();
    if (2 * t < blockDim.x) {
        for (int k = 2 * t; k < 2 * t + 2; k++) {
            if (first + k < n) {
                c[first + k] = slot[k];
            }
        }
    }
}
