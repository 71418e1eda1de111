// Called once for every new token. `fresh` holds all tokens' keys and values, [token][key or value][head][dim].
// `cache` is laid out as attention reads it, [key or value][head][token][dim], with room for `capacity` tokens.
extern "C" __global__ void append(const float* fresh, float* cache, int heads, int dim, int capacity, int token) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * heads * dim) return;
    // TODO: copy this token's number i to its place in the cache.
}
