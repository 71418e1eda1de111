// Sizes as template parameters, tiles in a local struct, loads in lambdas, dynamic shared memory.
#include "lab.cuh"

// lockstep: block = 32, 8
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 32)
// lockstep: dynamic_shared_bytes = 4 * (32 * 17 + 16 * 64)
extern __shared__ unsigned char raw[];

template <int ROWS, int COLUMNS, int STEP>
struct Multiplier
{
    struct Storage
    {
        float a[ROWS][STEP + 1];
        float b[STEP][COLUMNS];
    };

    static __device__ void run(const float* a, const float* b, float* c, int m, int n, int k)
    {
        Storage& s = *reinterpret_cast<Storage*>(raw);
        const int x = threadIdx.x, y = threadIdx.y, id = y * 32 + x;
        const int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS;
        auto get = [](const float* p, int r, int q, int rows, int columns) {
            return r < rows && q < columns ? p[(long long)r * columns + q] : 0.0f;
        };
        float sum[ROWS / 8][COLUMNS / 32] = {};
        for (int start = 0; start < k; start += STEP) {
            for (int e = id; e < ROWS * STEP; e += 256)
                s.a[e / STEP][e % STEP] = get(a, row + e / STEP, start + e % STEP, m, k);
            for (int e = id; e < STEP * COLUMNS; e += 256)
                s.b[e / COLUMNS][e % COLUMNS] = get(b, start + e / COLUMNS, column + e % COLUMNS, k, n);
            __syncthreads();
#pragma unroll
            for (int d = 0; d < STEP; d++)
#pragma unroll
                for (int i = 0; i < ROWS / 8; i++)
#pragma unroll
                    for (int j = 0; j < COLUMNS / 32; j++)
                        sum[i][j] += s.a[y + 8 * i][d] * s.b[d][x + 32 * j];
            __syncthreads();
        }
        for (int i = 0; i < ROWS / 8; i++)
            for (int j = 0; j < COLUMNS / 32; j++) {
                const int r = row + y + 8 * i, q = column + x + 32 * j;
                if (r < m && q < n) c[(long long)r * n + q] = sum[i][j];
            }
    }
};

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    Multiplier<32, 64, 16>::run(a, b, c, m, n, k);
}
