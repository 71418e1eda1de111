// A block for each head of keys and values.
// lockstep: append.grid = heads, 2
// lockstep: append.block = 32
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int head = blockIdx.y * heads + blockIdx.x;
    const float* from = fresh + ((size_t)token * 2 * heads + head) * dim;
    for (int d = threadIdx.x; d < dim; d += 32) cache[((size_t)head * capacity + token) * dim + d] = from[d];
}
