#include "lab.cuh"

// Hides what comes later than the query: those scores become -INFINITY. The queries are the last `queries` tokens of the sequence.
extern "C" __global__ void mask_scores(float* scores, int queries, int keys)
{
    const int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y * blockDim.y + threadIdx.y, head = blockIdx.z;
    if (key < keys && query < queries) {
        const int own = query + keys - queries;  // the token that this query belongs to
        if (key > query) {
            scores[(head * queries + query) * keys + key] = -INFINITY;
        }
    }
}
