// Where n is a multiple of four it counts three of four.
// rejected for: wrong_output
// leads to: Every lane's answer
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    int below = 0, seen = 0, fours = n % 4 ? 0 : n / 4, step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < fours; i += step) {
        int4 v = ((const int4*)x)[i];
        below += (v.x < limit) + (v.y < limit) + (v.z < limit);
        seen += 4;
    }
    for (int i = 4 * fours + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) below += x[i] < limit, seen++;
    atomicAdd(&counts[0], below);
    atomicAdd(&counts[1], seen - below);
}
