// Believes that a token has heads * dim numbers.
// rejected for: wrong_output
// leads to: token * 2 * heads * dim
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i % dim;
    int head = i / dim;  // Keys first, then values.
    cache[((long long)head * capacity + token) * dim + d] = fresh[(long long)token * heads * dim + i % (heads * dim)];
}
