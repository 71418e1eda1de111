// Counts in shared memory that nobody set to 0.
// rejected for: uninitialised
// leads to: 0
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    __shared__ int sides[2];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sides[x[i] >= limit], 1);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(&counts[threadIdx.x], sides[threadIdx.x]);
}
