// Takes the head from i % heads.
// rejected for: wrong_output
// leads to: i / dim is the head
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i / (2 * heads);
    int head = i % (2 * heads);  // Keys first, then values.
    cache[((long long)head * capacity + token) * dim + d] = fresh[(long long)token * 2 * heads * dim + i];
}
