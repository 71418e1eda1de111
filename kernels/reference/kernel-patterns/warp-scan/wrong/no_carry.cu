#include "lab.cuh"

// y = running sums along each row of x, each with its own element; one warp a row.
extern "C" __global__ void scan(const float* x, float* y, int m, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
    int lane = threadIdx.x % WARP_SIZE;
    if (row >= m) return;  // the same for all lanes of a warp

    float before = 0.0f;
    for (int first = 0; first < n; first += WARP_SIZE) {
        int i = first + lane;
        float value = i < n ? x[row * n + i] : 0.0f;
        for (int distance = 1; distance < WARP_SIZE; distance *= 2) {
            float below = __shfl_up_sync(FULL_MASK, value, distance);
            if (lane >= distance) value += below;
        }
        if (i < n) y[row * n + i] = value;
        before = __shfl_sync(FULL_MASK, value, WARP_SIZE - 1);
    }
}
