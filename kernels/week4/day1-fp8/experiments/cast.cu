#include "lab.cuh"
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// y[i] = x[i], there and back through one byte. The numbers are normal, with a standard deviation of 200.
#define SATURATE 0

extern "C" __global__ void there_and_back(const __half* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        //@ cast
        const __nv_fp8_storage_t code = __nv_cvt_float_to_fp8(__half2float(x[i]), SATURATE ? __NV_SATFINITE : __NV_NOSAT, __NV_E4M3);
        //@ end
        y[i] = __half2float(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3));
    }
}
