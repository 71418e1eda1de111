// One warp for each row of logits.
#include "lab.cuh"

extern "C" __global__ void most_probable(const float* logits, int* token, int vocabulary)
{
    const float* row = logits + (size_t)blockIdx.x * vocabulary;
    float best = -INFINITY;
    int at = 0;
    for (int i = threadIdx.x; i < vocabulary; i += 32) {
        if (row[i] > best) {
            best = row[i];
            at = i;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(FULL_MASK, best, step);
        int other_at = __shfl_xor_sync(FULL_MASK, at, step);
        if (other > best || (other == best && other_at < at)) {
            best = other;
            at = other_at;
        }
    }
    if (threadIdx.x == 0) token[blockIdx.x] = at;
}
