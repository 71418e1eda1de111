// Rounds with rintf in units of the step, as in the warm-up.
// does not reach: Wide accesses
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(columns, 16), ceil_div(rows, 16)
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    const int c = blockIdx.x * 16 + threadIdx.x;
    const int r = blockIdx.y * 16 + threadIdx.y;
    if (r >= rows || c >= columns) return;
    const float q = __half2float(x[(size_t)r * columns + c]) / __bfloat162float(scale[r]);
    unsigned code;
    if (isnan(q)) {
        code = 0x7f;
    } else {
        const float m = fminf(fabsf(q), 448.0f);
        const int e = m < 0.015625f ? -6 : ilogbf(m);
        code = 8 * (e + 6) + (int)rintf(ldexpf(m, 3 - e));
        if (signbit(q)) code |= 0x80;
    }
    codes[(size_t)r * columns + c] = code;
}
