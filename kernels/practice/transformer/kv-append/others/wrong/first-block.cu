// Forgets the block's number.
// rejected for: wrong_output
// leads to: Is it a key or a value
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i % dim;
    int head = i / dim;  // Keys first, then values.
    cache[((long long)head * capacity + token) * dim + d] = fresh[(long long)token * 2 * heads * dim + i];
}
