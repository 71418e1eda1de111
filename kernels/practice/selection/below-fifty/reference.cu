// Each thread counts in a register, four numbers with each load. A warp adds its counts up, a block adds those in shared
// memory, and only the block's total goes to global memory.
//@ kernel
#define ALL 0xffffffffu

extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    __shared__ int below_of_block;
    if (threadIdx.x == 0) below_of_block = 0;
    __syncthreads();
    int me = blockIdx.x * blockDim.x + threadIdx.x, below = 0;
    for (int four = me; four < n / 4; four += gridDim.x * blockDim.x) {
        int4 v = ((const int4*)x)[four];
        below += (v.x < limit) + (v.y < limit) + (v.z < limit) + (v.w < limit);
    }
    if (me < n % 4) below += x[n - 1 - me] < limit;
    below = __reduce_add_sync(ALL, below);
    if (threadIdx.x % 32 == 0) atomicAdd(&below_of_block, below);
    __syncthreads();
    if (threadIdx.x != 0) return;
    atomicAdd(&counts[0], below_of_block);
    atomicAdd(&counts[1], (blockIdx.x == 0 ? n : 0) - below_of_block);  // all, without those below
}
//@ end
