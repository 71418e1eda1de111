#include "lab.cuh"

// Attention with all scores 0: each query's output is the average of the values that it sees, under a causal mask. A block does
// QUERIES queries, one a thread, and shares tiles of 32 rows of v. With SKIP 0 it loads also those that none of its queries sees.
// lockstep: block = QUERIES
// lockstep: grid = ceil_div(queries, QUERIES)
#define QUERIES 64
#define SKIP 1

#define D 64
#define ROWS 32

extern "C" __global__ void averages(
    const float* q, const float* k, const float* v, float* out, int queries, int keys, int causal, float scale)
{
    const int query = blockIdx.x * QUERIES + threadIdx.x;
    const int seen = min(query + 1, keys);
    const int end = SKIP ? min((int)(blockIdx.x + 1) * QUERIES, keys) : keys;
    float sum[D] = {};
    //@ tiles
    __shared__ float tile[ROWS][D];
    for (int first = 0; first < end; first += ROWS) {
        for (int i = threadIdx.x; i < ROWS * D; i += QUERIES) {
            tile[i / D][i % D] = first + i / D < keys ? v[first * D + i] : 0.0f;
        }
        __syncthreads();  // everything is there

        for (int j = 0; j < ROWS && first + j < seen; j++) {
            for (int c = 0; c < D; c++) {
                sum[c] += tile[j][c];
            }
        }
        __syncthreads();  // everybody is done with it
    }
    //@ end
    if (query < queries) {
        for (int c = 0; c < D; c++) {
            out[query * D + c] = sum[c] / seen;
        }
    }
}
