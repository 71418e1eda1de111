// A goes through the ring, B is loaded by each thread straight from global memory.
// does not reach: Tiles by asynchronous copies
#include "mma.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 128), m
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float4 ring[2][32];
    const int row = blockIdx.y, column = blockIdx.x * 128 + threadIdx.x, steps = ceil_div(k, 128);
    float sum = 0.0f;
    auto fetch = [&](int s) {
        if (s < steps && threadIdx.x < 32) {
            int at = s * 128 + 4 * threadIdx.x;
            copy_async(shared_address(&ring[s % 2][threadIdx.x]), at < k ? a + row * k + at : a, at < k ? 16 : 0);
        }
        copy_commit();
    };
    fetch(0);
    for (int s = 0; s < steps; s++) {
        copy_wait<0>();
        __syncthreads();
        fetch(s + 1);
        const float* piece = reinterpret_cast<const float*>(ring[s % 2]);
        if (column < n)
            for (int i = 0; i < min(128, k - s * 128); i++) sum += piece[i] * b[(s * 128 + i) * n + column];
    }
    if (column < n) c[row * n + column] = sum;
}
