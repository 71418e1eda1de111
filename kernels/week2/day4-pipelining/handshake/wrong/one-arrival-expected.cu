#include "tma.cuh"

// y = x, passed from hand to hand: warp 0 loads 32 floats at a time into a ring of two slots, warp 1 stores them. Each slot has
// two mbarriers: `full` says that it may be read, `empty` that it may be filled again.
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 32 * ROUNDS)
#define SLOTS 2
#define ROUNDS 8

extern "C" __global__ void copy(const float* x, float* y, int n)
{
    __shared__ float slots[SLOTS][32];
    __shared__ uint64_t full[SLOTS];
    __shared__ uint64_t empty[SLOTS];
    const int lane = threadIdx.x % 32;
    const int start = blockIdx.x * 32 * ROUNDS;

    if (threadIdx.x == 0) {
        for (int s = 0; s < SLOTS; s++) {
            barrier_init(shared_address(&full[s]), 1);
            barrier_init(shared_address(&empty[s]), 32);
        }
    }
    __syncthreads();

    if (threadIdx.x < 32) {
        for (int round = 0; round < ROUNDS; round++) {
            const int slot = round % SLOTS, lap = round / SLOTS;
            const int i = start + 32 * round + lane;
            // Emptied `lap` times before this: phase lap - 1 has to be over. In lap 0 that is true from the start.
            barrier_wait(shared_address(&empty[slot]), (lap + 1) % 2);
            slots[slot][lane] = i < n ? x[i] : 0.0f;
            barrier_arrive(shared_address(&full[slot]));
        }
    } else {
        for (int round = 0; round < ROUNDS; round++) {
            const int slot = round % SLOTS;
            const int i = start + 32 * round + lane;
            const int lap = round / SLOTS;
            barrier_wait(shared_address(&full[slot]), lap % 2);

            if (i < n) {
                y[i] = slots[slot][lane];
            }
            barrier_arrive(shared_address(&empty[slot]));
        }
    }
}
