// A thread copies one head's whole vector: neighboring threads are dim floats apart.
// does not reach: Whole sectors
// lockstep: append.grid = ceil_div(2 * heads, 128)
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int head = blockIdx.x * blockDim.x + threadIdx.x;
    if (head >= 2 * heads) return;
    const float* from = fresh + ((long long)token * 2 * heads + head) * dim;
    float* to = cache + ((long long)head * capacity + token) * dim;
    for (int d = 0; d < dim; d++) to[d] = from[d];
}
