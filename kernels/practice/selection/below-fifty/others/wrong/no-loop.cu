// Every thread takes one element: with 1024 blocks that is not all of them.
// rejected for: wrong_output
// leads to: element
// lockstep: count_sides.grid = min(ceil_div(n, 256), 16)
extern "C" __global__ void count_sides(const int* x, int* counts, int n, int limit) {
    int lane = threadIdx.x % 32, below = 0, seen = 0;
    for (int first = blockIdx.x * blockDim.x; first < n; first = n) {
        int i = first + threadIdx.x;
        below += __popc(__ballot_sync(0xffffffffu, i < n && x[i] < limit));
        seen += __popc(__ballot_sync(0xffffffffu, i < n));
    }
    if (lane == 0) {
        atomicAdd(&counts[0], below);
        atomicAdd(&counts[1], seen - below);
    }
}
