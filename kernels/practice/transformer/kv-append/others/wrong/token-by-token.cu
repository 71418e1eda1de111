// Keeps the layout of fresh.
// rejected for: wrong_output
// leads to: How far apart are two heads
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    int d = i % dim;
    int head = i / dim;  // Keys first, then values.
    cache[(long long)token * 2 * heads * dim + i] = fresh[(long long)token * 2 * heads * dim + i];
}
