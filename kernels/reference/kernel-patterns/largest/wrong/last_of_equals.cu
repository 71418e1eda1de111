#include "lab.cuh"

// index = the place of the largest number of each row, the first of equal ones; one warp a row.
extern "C" __global__ void argmax(const float* x, int* index, int m, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
    int lane = threadIdx.x % WARP_SIZE;
    if (row >= m) return;  // the same for all lanes of a warp

    float best = -INFINITY;
    int at = INT_MAX;
    for (int i = lane; i < n; i += WARP_SIZE) {
        if (x[row * n + i] > best) {
            best = x[row * n + i];
            at = i;
        }
    }
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(FULL_MASK, best, distance);
        int other_at = __shfl_xor_sync(FULL_MASK, at, distance);
        if (other > best || (other == best && other_at > at)) {
            best = other;
            at = other_at;
        }
    }
    if (lane == 0) index[row] = at;
}
