// Each round reads the row again and looks at what is smaller than the last winner.
// does not reach: The row is loaded once
#define ALL 0xffffffffu

extern "C" __global__ void top_eight(const float* x, int* best, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float last = INFINITY;
    int last_at = -1;
    for (int k = 0; k < 8; k++) {
        float most = -INFINITY;
        int where = n;
        for (int i = lane; i < n; i += 32) {
            float value = x[(size_t)row * n + i];
            bool is_left = value < last || (value == last && i > last_at);
            if (is_left && value > most) most = value, where = i;
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            float other = __shfl_xor_sync(ALL, most, distance);
            int there = __shfl_xor_sync(ALL, where, distance);
            if (other > most || (other == most && there < where)) most = other, where = there;
        }
        if (lane == 0) best[row * 8 + k] = where;
        last = most;
        last_at = where;
    }
}
