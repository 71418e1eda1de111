// The threads of the first layer of blocks set C to zero, and all add to it: nobody says who comes first.
// rejected for: race
// leads to: with no barrier or other order between them
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x), ceil_div(m, block_y), k
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        if (blockIdx.z == 0) c[row * n + column] = 0; { int i = blockIdx.z;
            sum += a[row * k + i] * b[i * n + column];
        }
        atomicAdd(&c[row * n + column], sum);
    }
}
