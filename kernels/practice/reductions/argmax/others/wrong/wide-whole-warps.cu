// The fast path takes 128 columns a round and only whole rounds.
// rejected for: wrong_output
// leads to: the last columns
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float best = x[row * n];
    int where = 0;
    if (n % 4 == 0 && n >= 128) {
        for (int first = 0; first + 128 <= n; first += 128) {
            float4 v = *(const float4*)(x + row * n + first + 4 * lane);
            int i = first + 4 * lane;
            if (v.x > best) best = v.x, where = i;
            if (v.y > best) best = v.y, where = i + 1;
            if (v.z > best) best = v.z, where = i + 2;
            if (v.w > best) best = v.w, where = i + 3;
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
