// Adds lanes 4 and 8 apart.
#include "lab.cuh"

// y = sums of the rows of x, which has 64 columns. A warp has 16 rows, as fragments of mma have them: of every 8 columns, lane
// 4g + t has columns 2t and 2t + 1 of row g, and of row g + 8.
extern "C" __global__ void fragment_sums(const float* x, float* y, int rows)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int r = 0; r < 2; r++) {
        const int row = blockIdx.x * 16 + g + 8 * r;
        float sum = 0.0f;
        for (int j = 0; j < 8 && row < rows; j++) {
            const float2 two = *(const float2*)(x + row * 64 + j * 8 + t * 2);
            sum += two.x + two.y;
        }
        sum += __shfl_xor_sync(FULL_MASK, sum, 4);
        sum += __shfl_xor_sync(FULL_MASK, sum, 8);
        if (t == 0 && row < rows) {
            y[row] = sum;
        }
    }
}
