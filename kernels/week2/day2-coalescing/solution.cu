#include "lab.cuh"

// points holds n records of three floats: x, y, z, x, y, z, ... Write all the x's, then all the y's, then all the z's.
//
// A block converts POINTS points, one for each thread. In memory they are FIELDS * POINTS contiguous floats.
// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
#define FIELDS 3

extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float chunk[FIELDS * POINTS];
    const int first = blockIdx.x * POINTS;  // the block's first point
    const int t = threadIdx.x;

    //@ load
    for (int round = 0; round < FIELDS; round++) {
        const int place = round * POINTS + t;
        if (FIELDS * first + place < FIELDS * n) {
            chunk[place] = points[FIELDS * first + place];
        }
    }
    //@ end

    __syncthreads();

    //@ store
    if (first + t < n) {
        for (int field = 0; field < FIELDS; field++) {
            // A stride of 3 words: 3 and 32 have no common factor, so 32 lanes hit 32 different banks.
            soa[field * n + first + t] = chunk[FIELDS * t + field];
        }
    }
    //@ end
}
