// The maximum first, by a pass over the keys; then sum and weighted values in a second one. Weights in powers of two.
// does not reach: One load for the group
extern "C" __global__ void decode(const float* q, const float* k, const float* v, const int* lengths, float* out, int capacity, int heads, int key_heads) {
    int lane = threadIdx.x % 32, group = heads / key_heads, head = blockIdx.x * group + threadIdx.x / 32, n = lengths[blockIdx.y];
    const float* query = q + ((size_t)blockIdx.y * heads + head) * 64;
    auto score_of = [&](int t) {
        const float* key = k + (((size_t)blockIdx.y * capacity + t) * key_heads + blockIdx.x) * 64;
        float s = query[lane] * key[lane] + query[lane + 32] * key[lane + 32];
        for (int d = 1; d < 32; d *= 2) s += __shfl_xor_sync(~0u, s, d);
        return s * (0.125f * 1.44269504f);
    };
    float most = -1e30f, sum = 0, a = 0, b = 0;
    for (int t = 0; t < n; t++) most = fmaxf(most, score_of(t));
    for (int t = 0; t < n; t++) {
        const float* value = v + (((size_t)blockIdx.y * capacity + t) * key_heads + blockIdx.x) * 64;
        float w = exp2f(score_of(t) - most);
        sum += w;
        a += w * value[lane];
        b += w * value[lane + 32];
    }
    float* to = out + ((size_t)blockIdx.y * heads + head) * 64;
    to[lane] = a / sum, to[lane + 32] = b / sum;
}
