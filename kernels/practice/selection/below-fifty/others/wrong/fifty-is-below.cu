// Counts 50 as below.
// rejected for: wrong_output
// leads to: 50 itself
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    int lane = threadIdx.x % 32, below = 0, seen = 0;
    for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
        int i = first + threadIdx.x;
        below += __popc(__ballot_sync(0xffffffffu, i < n && x[i] <= limit));
        seen += __popc(__ballot_sync(0xffffffffu, i < n));
    }
    if (lane == 0) {
        atomicAdd(&counts[0], below);
        atomicAdd(&counts[1], seen - below);
    }
}
