// A block for each token; the row goes through shared memory.
// lockstep: dispatch.grid = tokens
// lockstep: dispatch.block = 64
extern "C" __global__ void dispatch(const float* x, const int* expert, int* next, float* packed, int* owner, int tokens, int d) {
    __shared__ int row;
    if (threadIdx.x == 0) {
        row = atomicAdd(next + expert[blockIdx.x], 1);
        owner[row] = blockIdx.x;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x) packed[(size_t)row * d + i] = x[(size_t)blockIdx.x * d + i];
}
