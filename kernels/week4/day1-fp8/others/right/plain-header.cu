// NVIDIA's header, one element a thread.
// does not reach: Wide accesses
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(rows * columns, block_x)
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * columns) return;
    float v = __half2float(x[i]) / __bfloat162float(scale[i / columns]);
    codes[i] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
}
