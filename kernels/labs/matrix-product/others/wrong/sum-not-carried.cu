// Sums begin anew in each slab.
// rejected for: wrong_output
// leads to: set to zero again
#include "lab.cuh"
// lockstep: linear.block = 32, 8
// lockstep: linear.grid = ceil_div(n, 32), ceil_div(m, 32)
// Tiles of 32 x 32, four rows a thread, the columns along x.
template <int T, int ROWS>
__device__ __forceinline__ void load(float (*to)[T + 1], const float* from, int row0, int column0, int rows, int columns)
{
    #pragma unroll
    for (int i = 0; i < T; i += ROWS) {
        const int r = row0 + threadIdx.y + i, c = column0 + threadIdx.x;
        to[threadIdx.y + i][threadIdx.x] = r < rows && c < columns ? from[(size_t)r * columns + c] : 0.f;
    }
}
extern "C" __global__ void linear(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, int m, int n, int k)
{
    __shared__ float sx[32][33], sw[32][33];
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    float acc[4];
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (int i = 0; i < 4; ++i) acc[i] = 0.f;
        load<32, 8>(sx, x, row0, k0, m, k);
        load<32, 8>(sw, w, k0, column0, k, n);
        __syncthreads();
        for (int d = 0; d < 32; ++d) {
            const float b = sw[d][threadIdx.x];
            for (int i = 0; i < 4; ++i) acc[i] = fmaf(sx[threadIdx.y + 8 * i][d], b, acc[i]);
        }
        __syncthreads();
    }
    const int c = column0 + threadIdx.x;
    if (c >= n) return;
    const float b = __ldg(bias + c);
    for (int i = 0; i < 4; ++i) {
        const int r = row0 + threadIdx.y + 8 * i;
        const float v = acc[i] + b;
        if (r < m) y[(size_t)r * n + c] = fmaxf(v, 0.25f * v);
    }
}
