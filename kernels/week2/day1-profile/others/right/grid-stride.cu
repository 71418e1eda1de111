// A loop over the grid, float by float.
// does not reach: Four floats a load
#include "lab.cuh"
// lockstep: grid = 8
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = fmaf(alpha, x[i], y[i]);
}
