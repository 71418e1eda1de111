#include "mma.cuh"

// C = A * B, one element for each thread, with one row of A in shared memory. Nothing here is fast. Look at the three marked
// lines: the copy is started, its group is closed, and the next line reads what was copied.
// lockstep: block = 32
// lockstep: grid = ceil_div(n, 32), m
#define WAIT 0

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float piece[128];
    const int row = blockIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += 128) {
        const int first = start + 4 * threadIdx.x;
        //@ early
        copy_async(shared_address(&piece[4 * threadIdx.x]), first < k ? a + row * k + first : a, first < k ? 16 : 0);
        copy_commit();
#if WAIT
        copy_wait<0>();
#endif
        __syncwarp();
        for (int i = 0; i < min(128, k - start); i++) {
            if (column < n) sum += piece[i] * b[(start + i) * n + column];
        }
        //@ end
        __syncwarp();
    }
    if (column < n) c[row * n + column] = sum;
}
