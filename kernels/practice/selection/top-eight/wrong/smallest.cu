// A warp for each row. A lane keeps its share of the row in registers and offers its best; the warp agrees on the best of
// 32 offers, and only the lane that had it looks for its next one. The row is loaded once.
//@ kernel
#define ALL 0xffffffffu
#define EACH 16  // up to 512 columns

extern "C" __global__ void top_eight(const float* x, int* best, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float own[EACH];
    for (int e = 0; e < EACH; e++) own[e] = lane + 32 * e < n ? x[(size_t)row * n + lane + 32 * e] : INFINITY;
    for (int k = 0; k < 8; k++) {
        float most = own[0];
        int where = lane;
        for (int e = 1; e < EACH; e++) {
            if (own[e] < most) most = own[e], where = lane + 32 * e;
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            float other = __shfl_xor_sync(ALL, most, distance);
            int there = __shfl_xor_sync(ALL, where, distance);
            if (other < most || (other == most && there < where)) most = other, where = there;
        }
        if (lane == 0) best[row * 8 + k] = where;
        for (int e = 0; e < EACH; e++) {
            if (where == lane + 32 * e) own[e] = INFINITY;  // taken
        }
    }
}
//@ end
