// Looks at scores below the last winner only: equal ones are passed over.
// rejected for: nan_output
// leads to: Equal scores
extern "C" __global__ void top_eight(const float* x, int* best, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float last = INFINITY;
    for (int k = 0; k < 8; k++) {
        float most = -INFINITY;
        int where = n;
        for (int i = lane; i < n; i += 32) {
            float s = x[(size_t)row * n + i];
            if (s < last && s > most) most = s, where = i;
        }
        for (int d = 16; d > 0; d /= 2) {
            float other = __shfl_xor_sync(0xffffffffu, most, d);
            int there = __shfl_xor_sync(0xffffffffu, where, d);
            if (other > most || (other == most && there < where)) most = other, where = there;
        }
        if (lane == 0) best[row * 8 + k] = where;
        last = most;
    }
}
