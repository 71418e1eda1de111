// One midpoint of the table is missing.
// rejected for: uninitialised
// leads to: middle
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(rows, block_y)
// The 127 magnitudes in constant memory; the nearest by counting the midpoints below.
__device__ float worth(int c) { return c < 8 ? c * 0.001953125f : ldexpf(8 + (c & 7), (c >> 3) - 10); }
extern "C" __global__ void to_e4m3(const __half* __restrict__ x, const __nv_bfloat16* __restrict__ scale, unsigned char* __restrict__ codes, int rows, int columns)
{
    __shared__ float middle[127];
    const int t = threadIdx.y * 32 + threadIdx.x;
    if (t < 125) middle[t] = 0.5f * (worth(t) + worth(t + 1));
    __syncthreads();
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float s = __bfloat162float(scale[row]);
    for (int c = threadIdx.x; c < columns; c += 32) {
        const long long at = (long long)row * columns + c;
        const float q = __half2float(x[at]) / s;
        const float m = fabsf(q);
        int low = 0, high = 126;
        while (low < high) {
            const int mid = (low + high) / 2;
            if (m > middle[mid] || (m == middle[mid] && (mid & 1))) low = mid + 1; else high = mid;
        }
        codes[at] = (q != q ? 127 : low) | (signbit(q) ? 128 : 0);
    }
}
