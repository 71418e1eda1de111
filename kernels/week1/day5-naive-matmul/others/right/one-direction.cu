// A grid in one direction only: the thread divides its number to find row and column.
#include "lab.cuh"

// lockstep: block = 256
// lockstep: grid = ceil_div(m * n, 256)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= m * n) {
        return;
    }
    const int row = element / n, column = element % n;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum = fmaf(__ldg(&a[row * k + i]), __ldg(&b[i * n + column]), sum);
    c[element] = sum;
}
