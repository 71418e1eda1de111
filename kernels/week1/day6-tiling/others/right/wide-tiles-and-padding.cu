// Tiles of 8 x 32 and 32 x 32, the first padded, with blocks of 32 x 8; B is loaded in four steps.
#include "lab.cuh"

// lockstep: block = 32, 8
#define W 32
#define H 8

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float A[H][W + 1];
    __shared__ float B[W][W];
    const int row = blockIdx.y * H + threadIdx.y;
    const int column = blockIdx.x * W + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += W) {
        const int i = start + threadIdx.x;
        A[threadIdx.y][threadIdx.x] = (row < m && i < k) ? a[(size_t)row * k + i] : 0.0f;
        for (int r = threadIdx.y; r < W; r += H)
            B[r][threadIdx.x] = (start + r < k && column < n) ? b[(size_t)(start + r) * n + column] : 0.0f;
        __syncthreads();
        const int end = min(W, k - start);
        for (int j = 0; j < end; j++)
            sum += A[threadIdx.y][j] * B[j][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[(size_t)row * n + column] = sum;
}
