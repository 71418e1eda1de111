// One thread a row, four floats at a time: fewer requests, sectors still wasted within each.
// does not reach: Whole sectors
#include "lab.cuh"
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* p = x + (long long)r * columns;
    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    int i = 0;
    if (columns % 4 == 0) {
        for (; i < columns; i += 4) {
            const float4 v = *reinterpret_cast<const float4*>(p + i);
            a += v.x; b += v.y; c += v.z; d += v.w;
        }
    }
    for (; i < columns; ++i) a += p[i];
    y[r] = a + b + c + d;
}
