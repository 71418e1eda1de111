// Stores one token further, which the last turn has no room for.
// rejected for: out_of_bounds
// leads to: number `token` of its head
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i % dim;
    int head = i / dim;  // Keys first, then values.
    cache[((long long)head * capacity + token + 1) * dim + d] = fresh[(long long)token * 2 * heads * dim + i];
}
