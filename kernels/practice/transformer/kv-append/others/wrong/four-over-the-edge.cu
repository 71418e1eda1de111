// Four numbers at once for any length of a vector: where dim is no multiple of four, a four spans two heads.
// rejected for: wide_access
// leads to: multiple of four
// lockstep: append.grid = ceil_div(2 * heads * dim, 512)
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), all = 2 * heads * dim;
    if (i >= all) return;
    if (i + 4 <= all) {
        *(float4*)(cache + ((size_t)(i / dim) * capacity + token) * dim + i % dim) = *(const float4*)(fresh + (size_t)token * all + i);
    } else
        for (int k = i; k < all; k++) cache[((size_t)(k / dim) * capacity + token) * dim + k % dim] = fresh[(size_t)token * all + k];
}
