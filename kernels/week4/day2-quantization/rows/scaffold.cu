#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>

// scale[row] = the largest magnitude of the row / 448; codes[row][i] = E4M3 of x[row][i] / scale[row]. One block a row.
// lockstep: block = THREADS
// lockstep: grid = rows
#define THREADS 256

// The largest of all threads' values, in every thread.
__device__ float block_max(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = part[0];
    for (int warp = 1; warp < THREADS / 32; warp++) {
        value = fmaxf(value, part[warp]);
    }
    return value;
}

extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* codes, float* scale, int rows, int columns)
{
    // TODO 1: the largest magnitude of this thread's elements, then of the row, which begins at x + (long long)blockIdx.x * columns.

    // TODO 2: the row's scale. One thread stores it.

    // TODO 3: the codes: __nv_cvt_float_to_fp8(quotient, __NV_SATFINITE, __NV_E4M3). And if the whole row is 0?
}
