// Loads four at a time and forgets the rest.
// rejected for: wrong_output
// leads to: no int4
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    int below = 0, seen = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        int4 v = ((const int4*)x)[i];
        below += (v.x < limit) + (v.y < limit) + (v.z < limit) + (v.w < limit);
        seen += 4;
    }
    atomicAdd(&counts[0], below);
    atomicAdd(&counts[1], seen - below);
}
