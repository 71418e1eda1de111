// Dynamic shared memory, a template for the tile, lambdas for bounds.
#include "lab.cuh"

// lockstep: block = 16, 16
// lockstep: dynamic_shared_bytes = 2 * 4 * 16 * 16
extern __shared__ float storage[];

template <int T>
__device__ float dot_of_tiles(const float (*A)[T], const float (*B)[T], int x, int y)
{
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < T; i++) sum += A[y][i] * B[i][x];
    return sum;
}

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    constexpr int T = 16;
    auto A = reinterpret_cast<float(*)[T]>(storage);
    auto B = reinterpret_cast<float(*)[T]>(storage + T * T);
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    auto at = [](const float* matrix, unsigned r, unsigned c, unsigned rows, unsigned columns) {
        return r < rows && c < columns ? matrix[r * columns + c] : 0.0f;
    };
    float sum = 0.0f;
    for (unsigned start = 0; start < k; start += T) {
        A[y][x] = at(a, row, start + x, m, k);
        B[y][x] = at(b, start + y, column, k, n);
        __syncthreads();
        sum += dot_of_tiles<T>(A, B, x, y);
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
