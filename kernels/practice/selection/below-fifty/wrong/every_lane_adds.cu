// Each thread counts in a register over its whole stride, each warp adds its counts up by exchanges, and each block adds
// to the result once for each bin.
#define ALL 0xffffffffu

extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    __shared__ int below_of_block;
    if (threadIdx.x == 0) below_of_block = 0;
    __syncthreads();
    int below = 0;
    for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
        int i = first + threadIdx.x;
        below += __popc(__ballot_sync(ALL, i < n && x[i] < limit));
    }
    atomicAdd(&below_of_block, below);
    __syncthreads();
    if (threadIdx.x != 0) return;
    int mine = 0;
    for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) mine += min(n - first, (int)blockDim.x);
    atomicAdd(&counts[0], below_of_block);
    atomicAdd(&counts[1], mine - below_of_block);
}
