// Stores C in float4, whatever n is.
// rejected for: misaligned
// leads to: multiple of 16
#include "lab.cuh"

// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float A[64][17];
    __shared__ __align__(16) float B[16][64];
    const int x = threadIdx.x, y = threadIdx.y;
    const int r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
    float s[4][4] = {};
    for (int start = 0; start < k; start += 16) {
        for (int i = 0; i < 4; i++) {
            const int r = y + 16 * i;
            A[r][x] = r0 + r < m && start + x < k ? a[(r0 + r) * k + start + x] : 0.0f;
            B[y][x + 16 * i] = start + y < k && c0 + x + 16 * i < n ? b[(start + y) * n + c0 + x + 16 * i] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < 16; d++) {
            const float4 v = *reinterpret_cast<float4*>(&B[d][4 * x]);
            for (int i = 0; i < 4; i++) {
                const float f = A[4 * y + i][d];
                s[i][0] += f * v.x;
                s[i][1] += f * v.y;
                s[i][2] += f * v.z;
                s[i][3] += f * v.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        const int row = r0 + 4 * y + i, column = c0 + 4 * x;
        if (row < m && column + 3 < n) {
            *reinterpret_cast<float4*>(&c[row * n + column]) = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
        } else if (row < m) {
            for (int j = 0; j < 4 && column + j < n; j++) c[row * n + column + j] = s[i][j];
        }
    }
}
