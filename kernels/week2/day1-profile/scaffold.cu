#include "lab.cuh"

// out = alpha * x + y. A block owns 16 * blockDim.x floats in a row, and each of its threads 16 of them.
// Now each thread has one float of x and one of y in flight. Goal: four float4 of each.

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    int first = blockIdx.x * 16 * blockDim.x;
    if (first + 16 * (int)blockDim.x <= n) {
        // TODO: the fast path of a full block. Load four float4 of x and four of y into local arrays,
        // a block's width apart, then compute and store all four.
        out[first + threadIdx.x] = alpha * x[first + threadIdx.x] + y[first + threadIdx.x];
    } else {
        // TODO: the last block goes float by float.
    }
}
