// The step behind the logits: which byte is the most probable? One warp for each row.
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
    // TODO: `best` and `at` are this lane's own. Combine the 32 lanes; of equal logits the smaller index wins.
    if (threadIdx.x == 0) token[blockIdx.x] = at;
}
