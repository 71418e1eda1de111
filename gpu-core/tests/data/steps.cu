// Kernels for the tests of exercises with steps. steps.ptx is this file compiled by NVRTC 13.5 with
// `--gpu-architecture=sm_90a -lineinfo`; tests that need a GPU compile it again.

// One sum a block, of every block-th piece.
extern "C" __global__ void partial_sums(const float* x, float* partial, int n) {
    __shared__ float sums[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void combine(const float* partial, float* y, int parts) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int i = 0; i < parts; i++) sum += partial[i];
    y[0] = sum;
}

// Forgets the last part.
extern "C" __global__ void combine_short(const float* partial, float* y, int parts) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int i = 0; i < parts - 1; i++) sum += partial[i];
    y[0] = sum;
}

// Reads one part too many.
extern "C" __global__ void combine_long(const float* partial, float* y, int parts) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int i = 0; i <= parts; i++) sum += partial[i];
    y[0] = sum;
}

// Row `row` of a copy, one row a turn.
extern "C" __global__ void append_row(const float* x, float* y, int columns, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns) y[row * columns + i] = x[row * columns + i];
}

// Row `row`, which was appended in this very turn, is read back and copied.
extern "C" __global__ void read_row(const float* cache, float* y, int columns, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns) y[row * columns + i] = cache[row * columns + i];
}

// Copies in two halves of the work, with a barrier of the whole grid between them: the second half reads what other
// blocks wrote in the first one.
#include <cooperative_groups.h>
extern "C" __global__ void through_scratch(const float* x, float* scratch, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scratch[n - 1 - i] = x[i];
    cooperative_groups::this_grid().sync();
    if (i < n) y[i] = scratch[n - 1 - i];
}

// The same without the barrier.
extern "C" __global__ void through_scratch_unordered(const float* x, float* scratch, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scratch[n - 1 - i] = x[i];
    if (i < n) y[i] = scratch[i];
}

// Each block writes what the other block of its cluster read.
extern "C" __global__ void swap_in_cluster(const float* x, float* y) {
    __shared__ float own[64];
    auto cluster = cooperative_groups::this_cluster();
    own[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    cluster.sync();
    const float* other = cluster.map_shared_rank(own, cluster.block_rank() ^ 1);
    y[(blockIdx.x ^ 1) * 64 + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}
