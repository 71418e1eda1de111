// The block counts in shared memory, with an atomic addition for each element.
// does not reach: Four with each load
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    __shared__ int sides[2];
    if (threadIdx.x < 2) sides[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sides[x[i] >= limit], 1);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(&counts[threadIdx.x], sides[threadIdx.x]);
}
