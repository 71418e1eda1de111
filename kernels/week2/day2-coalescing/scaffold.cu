#include "lab.cuh"

// points holds n records of three floats: x, y, z, x, y, z, ... Write all the x's, then all the y's, then all the z's.
//
// A block converts POINTS points, one for each thread. In memory they are FIELDS * POINTS contiguous floats.
// Block and grid are yours to change; the two lines below tell Lockstep what to launch.
// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
#define FIELDS 3

extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float chunk[FIELDS * POINTS];
    const int first = blockIdx.x * POINTS;  // the block's first point
    const int t = threadIdx.x;

    // TODO 1: copy the block's floats to chunk, in the order in which they are in memory. There are FIELDS times as
    // many floats as threads. The last block has fewer points: load nothing past the end of points.
    chunk[t] = 0.0f;

    __syncthreads();

    // TODO 2: thread t owns point first + t, if there is one. Store its three fields, read from chunk, to soa.
    if (first + t < n) {
        soa[first + t] = chunk[t];
    }
}
