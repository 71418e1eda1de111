// Deals the blocks out itself, one after the other to 132 multiprocessors.
// rejected for: wrong_output
// leads to: made up
#include "lab.cuh"

extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int me = threadIdx.x, place = blockDim.x * blockIdx.x + me;
    sm[place] = blockIdx.x % 132;
    warp[place] = me >> 5;
    lane[place] = me & 31;
}
