// Takes the last group of four for whole.
// rejected for: out_of_bounds
// leads to: multiple of four
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; 4 * i < n; i += gridDim.x * blockDim.x) {
        int4 v = ((const int4*)x)[i];
        int below = (v.x < limit) + (v.y < limit) + (v.z < limit) + (v.w < limit);
        atomicAdd(&counts[0], below);
        atomicAdd(&counts[1], 4 - below);
    }
}
