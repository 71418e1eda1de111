// Loads float4 whatever the length.
// rejected for: misaligned
// leads to: and single floats otherwise
#include "lab.cuh"

// Softmax of long rows in two launches. A block does one chunk of one row: chunk blockIdx.x of row blockIdx.y.
// lockstep: partials.block = THREADS
// lockstep: partials.grid = ceil_div(columns, CHUNK), rows
// lockstep: weights.block = THREADS
// lockstep: weights.grid = ceil_div(columns, CHUNK), rows
#define THREADS 256
#define CHUNK 4096

// Merges another partial result into (m, l).
__device__ void merge(float& m, float& l, float other_m, float other_l)
{
    const float most = fmaxf(m, other_m);
    if (most > -INFINITY) {  // else both are empty
        l = l * expf(m - most) + other_l * expf(other_m - most);
        m = most;
    }
}

// Merges the (m, l) of all threads of the block; every thread gets the result.
__device__ void merge_block(float& m, float& l)
{
    __shared__ float part_m[THREADS / 32], part_l[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other_m = __shfl_xor_sync(FULL_MASK, m, distance);
        const float other_l = __shfl_xor_sync(FULL_MASK, l, distance);
        merge(m, l, other_m, other_l);
    }
    if (threadIdx.x % 32 == 0) {
        part_m[threadIdx.x / 32] = m;
        part_l[threadIdx.x / 32] = l;
    }
    __syncthreads();
    m = -INFINITY;
    l = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++) {
        merge(m, l, part_m[warp], part_l[warp]);
    }
}

// Step 1: the maximum and the sum of one chunk, in one pass.
extern "C" __global__ void partials(const float* x, float* part_max, float* part_sum, int rows, int columns)
{
    const float* row = x + (long long)blockIdx.y * columns;
    const int first = blockIdx.x * CHUNK;
    const int end = min(first + CHUNK, columns);

    float m = -INFINITY, l = 0.0f;
    for (int i = first + 4 * threadIdx.x; i < end; i += 4 * THREADS) {
        const float4 four = *reinterpret_cast<const float4*>(row + i);
        const float v[4] = {four.x, four.y, four.z, four.w};
        for (int j = 0; j < 4 && i + j < end; j++) {
            const float most = fmaxf(m, v[j]);
            l = l * expf(m - most) + expf(v[j] - most);
            m = most;
        }
    }
    merge_block(m, l);

    if (threadIdx.x == 0) {
        part_max[blockIdx.y * gridDim.x + blockIdx.x] = m;
        part_sum[blockIdx.y * gridDim.x + blockIdx.x] = l;
    }
}

// Step 2: the maximum and the sum of the row from its parts, then the weights of one chunk.
extern "C" __global__ void weights(
    const float* x, const float* part_max, const float* part_sum, float* y, float* lse, int rows, int columns)
{
    const float* row = x + (long long)blockIdx.y * columns;
    float* to = y + (long long)blockIdx.y * columns;
    const int first = blockIdx.x * CHUNK;
    const int end = min(first + CHUNK, columns);

    float m = -INFINITY, l = 0.0f;
    for (int part = threadIdx.x; part < gridDim.x; part += THREADS) {
        merge(m, l, part_max[blockIdx.y * gridDim.x + part], part_sum[blockIdx.y * gridDim.x + part]);
    }
    merge_block(m, l);

    for (int i = first + threadIdx.x; i < end; i += THREADS) {
        to[i] = expf(row[i] - m) / l;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        lse[blockIdx.y] = m + logf(l);
    }
}
