// The fast path takes four at once and keeps the last of equal ones within the four.
// rejected for: wrong_output
// leads to: the smaller column must win
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float best = -INFINITY;
    int where = n;
    if (n % 4 == 0) {
        const float4* fours = (const float4*)(x + row * n);
        for (int i = lane; i < n / 4; i += 32) {
            float4 v = fours[i];
            float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
            if (most > best) best = most, where = 4 * i + (v.w == most ? 3 : v.z == most ? 2 : v.y == most ? 1 : 0);
        }
    } else
        for (int i = lane; i < n; i += 32)
            if (x[row * n + i] > best) best = x[row * n + i], where = i;
    for (int d = 16; d; d >>= 1) {
        float other = __shfl_xor_sync(~0u, best, d);
        int there = __shfl_xor_sync(~0u, where, d);
        if (other > best || (other == best && there < where)) best = other, where = there;
    }
    if (lane == 0) index[row] = where, value[row] = best;
}
