// A fixed grid that walks over the tiles, two columns at a time in float2 where n is even.
#include "lab.cuh"

// lockstep: block = 16, 16
// lockstep: grid = 3
#define T 32

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float A[T][T + 1];
    __shared__ float2 B[T][T / 2];
    const int x = threadIdx.x, y = threadIdx.y;
    const int across = ceil_div(n, T), tiles = across * ceil_div(m, T);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / across * T, column = tile % across * T;
        float2 s0 = make_float2(0, 0), s1 = make_float2(0, 0);
        for (int start = 0; start < k; start += T) {
            for (int r = y; r < T; r += 16) {
                for (int q = x; q < T; q += 16) {
                    A[r][q] = row + r < m && start + q < k ? a[(row + r) * k + start + q] : 0.0f;
                }
                const int i = start + r, j = column + 2 * x;
                const float* from = b + i * n + j;
                if (i < k && n % 2 == 0 && j < n) {
                    B[r][x] = *reinterpret_cast<const float2*>(from);
                } else {
                    B[r][x] = make_float2(i < k && j < n ? from[0] : 0.0f, i < k && j + 1 < n ? from[1] : 0.0f);
                }
            }
            __syncthreads();
            for (int d = 0; d < T; d++) {
                const float2 v = B[d][x];
                const float f0 = A[y][d], f1 = A[y + 16][d];
                s0.x += f0 * v.x; s0.y += f0 * v.y;
                s1.x += f1 * v.x; s1.y += f1 * v.y;
            }
            __syncthreads();
        }
        auto put = [&](int r, int j, float value) { if (r < m && j < n) c[r * n + j] = value; };
        put(row + y, column + 2 * x, s0.x);
        put(row + y, column + 2 * x + 1, s0.y);
        put(row + y + 16, column + 2 * x, s1.x);
        put(row + y + 16, column + 2 * x + 1, s1.y);
    }
}
