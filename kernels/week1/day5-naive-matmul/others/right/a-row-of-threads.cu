// One block for each row of C, whose threads step along it.
#include "lab.cuh"

#define THREADS 96
// lockstep: block = THREADS
// lockstep: grid = m
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const float* mine = a + blockIdx.x * k;
    for (int column = threadIdx.x; column < n; column += THREADS) {
        double sum = 0.0;
        for (int i = 0; i < k; i++) {
            sum += (double)mine[i] * b[i * n + column];
        }
        c[blockIdx.x * n + column] = (float)sum;
    }
}
