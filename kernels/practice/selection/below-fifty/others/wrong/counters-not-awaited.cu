// Sends the block's counts off before all have counted.
// rejected for: race
// leads to: barrier
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    __shared__ int sides[2];
    if (threadIdx.x < 2) sides[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sides[x[i] >= limit], 1);
    if (threadIdx.x < 2) atomicAdd(&counts[threadIdx.x], sides[threadIdx.x]);
}
