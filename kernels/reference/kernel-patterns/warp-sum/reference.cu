#include "lab.cuh"

// y = the sum of each row of x, one warp a row.
extern "C" __global__ void row_sums(const float* x, float* y, int m, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
    int lane = threadIdx.x % WARP_SIZE;
    if (row >= m) return;  // the same for all lanes of a warp

    float sum = 0.0f;
    for (int i = lane; i < n; i += WARP_SIZE) sum += x[row * n + i];

    //@ warp-sum
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(FULL_MASK, sum, distance);
    }
    //@ end
    if (lane == 0) y[row] = sum;
}
