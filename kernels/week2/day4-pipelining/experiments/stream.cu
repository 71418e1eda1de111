#include "mma.cuh"

// y = A * x, the product of a matrix and a vector: what a language model does for each token. A block of 128 threads takes
// one row of A at a time, 512 floats in each step. Every element of A is used once, so the time is the time of the loads.
//
// The ring here is the simplest there is: each thread reads only the 16 bytes that it copied itself. No thread looks at
// another one's piece, so there is no __syncthreads() in the loop. k is a multiple of 512.
// lockstep: block = THREADS
// lockstep: grid = min(m, 132)
#define THREADS 128
#define STAGES 1

extern "C" __global__ void gemv(const float* a, const float* x, float* y, int m, int k)
{
    __shared__ float4 ring[STAGES][THREADS];
    __shared__ float sums[THREADS / 32];
    const int t = threadIdx.x;
    const int steps_in_a_row = k / (4 * THREADS);

    for (int row = blockIdx.x; row < m; row += gridDim.x) {
        const float4* from_a = reinterpret_cast<const float4*>(a + static_cast<int64_t>(row) * k) + t;
        const float4* from_x = reinterpret_cast<const float4*>(x) + t;
        float sum = 0.0f;

        //@ ring
        auto fetch = [&](int step) {
            if (step < steps_in_a_row) {
                copy_async(shared_address(&ring[step % STAGES][t]), from_a + step * THREADS, 16);
            }
            copy_commit(); // one group a step, an empty one past the end
        };
        for (int step = 0; step < STAGES - 1; step++) {
            fetch(step); // the first STAGES - 1 steps start at once
        }
        for (int step = 0; step < steps_in_a_row; step++) {
#if STAGES == 1
            fetch(step); // nothing is ahead
            copy_wait<0>();
#else
            copy_wait<STAGES - 2>(); // all but the newest STAGES - 2 groups have landed: this step has
#endif
            const float4 p = ring[step % STAGES][t];
            const float4 q = from_x[step * THREADS];
            sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
#if STAGES > 1
            fetch(step + STAGES - 1); // into the piece that was read in the turn before
#endif
        }
        //@ end

        for (int offset = 16; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(FULL_MASK, sum, offset);
        }
        if (t % 32 == 0) sums[t / 32] = sum;
        __syncthreads();
        if (t == 0) y[row] = sums[0] + sums[1] + sums[2] + sums[3];
        __syncthreads();
    }
}
