// Attention's part in this exercise: reads from the cache what this turn has appended.
extern "C" __global__ void read_back(const float* cache, float* seen, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i % dim;
    int head = i / dim;  // Keys first, then values.
    // Attention of this turn reads all tokens so far, and finds those of earlier turns where they were put.
    for (int earlier = 0; earlier <= token; earlier++) {
        seen[(long long)earlier * 2 * heads * dim + i] = cache[((long long)head * capacity + earlier) * dim + d];
    }
}
