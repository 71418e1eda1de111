// Waits for the same parity in every lap.
#include "tma.cuh"

#define STAGES 3

extern "C" __global__ void which_turn(const float* x, float* y, int rows)
{
    __shared__ float stages[STAGES][32];
    __shared__ __align__(8) uint64_t barriers[2 * STAGES];
    const uint32_t full = shared_address(barriers), empty = full + 8 * STAGES;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2 * STAGES; s++) barrier_init(full + 8 * s, 32); // each lane arrives
        barrier_init_fence();
    }
    __syncthreads();

    for (int row = 0; row < rows; row++) {
        const int slot = row % STAGES; // which stage
        const int lap = row / STAGES; // how often the ring has come round
        if (threadIdx.x < 32) {
            const int parity = (lap + 1) % 2;
            barrier_wait(empty + 8 * slot, parity);
            stages[slot][lane] = x[32 * row + lane];
            barrier_arrive(full + 8 * slot);
        } else {
            const int parity = 0;
            barrier_wait(full + 8 * slot, parity);
            y[32 * row + lane] = stages[slot][lane];
            barrier_arrive(empty + 8 * slot);
        }
    }
}
