// Puts the numbers of a head capacity apart.
// rejected for: wrong_output
// leads to: position inside the head
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i % dim;
    int head = i / dim;  // Keys first, then values.
    cache[((long long)head * dim + d) * capacity + token] = fresh[(long long)token * 2 * heads * dim + i];
}
