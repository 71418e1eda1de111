// Four numbers a thread where a head's vector is a multiple of four; else one by one.
// lockstep: append.grid = ceil_div(2 * heads * dim, 512)
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), all = 2 * heads * dim;
    const float* from = fresh + (size_t)token * all;
    if (dim % 4 == 0) {
        if (i < all) *(float4*)(cache + ((size_t)(i / dim) * capacity + token) * dim + i % dim) = *(const float4*)(from + i);
    } else
        for (int k = i; k < min(i + 4, all); k++) cache[((size_t)(k / dim) * capacity + token) * dim + k % dim] = from[k];
}
