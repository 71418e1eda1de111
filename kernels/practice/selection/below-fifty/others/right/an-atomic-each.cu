// One atomic addition for each element.
// does not reach: Four with each load
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i] < limit ? 0 : 1], 1);
}
