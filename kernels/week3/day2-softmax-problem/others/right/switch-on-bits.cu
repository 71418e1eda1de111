// The two infinities are bit patterns; a NaN is everything above.
// does not reach: Wide loads
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        unsigned b = ((const unsigned*)x)[i];
        switch (b) {
            case 0x7f800000: atomicAdd(&counts[1], 1); break;
            case 0xff800000: atomicAdd(&counts[2], 1); break;
            default: if ((b << 1) > 0xff000000u) atomicAdd(&counts[0], 1);
        }
    }
}
