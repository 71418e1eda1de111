// Keeps rows of up to 8,192 elements in shared memory.
// does not reach: Sixteen bytes a load
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
    const __nv_bfloat16* from = x + (long long)blockIdx.x * columns;
    unsigned char* to = codes + (long long)blockIdx.x * columns;

    __shared__ __nv_bfloat16 row[8192];
    const bool fits = columns <= 8192;
    float most = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        const __nv_bfloat16 v = from[i];
        if (fits) row[i] = v;
        most = fmaxf(most, fabsf(__bfloat162float(v)));
    }
    most = block_max(most);

    const float of_row = most / 448.0f;
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = of_row;
    }

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        const float quotient = of_row == 0.0f ? 0.0f : __bfloat162float(fits ? row[i] : from[i]) / of_row;
        to[i] = __nv_cvt_float_to_fp8(quotient, __NV_SATFINITE, __NV_E4M3);
    }
}
