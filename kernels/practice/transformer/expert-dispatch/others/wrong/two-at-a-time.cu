// Adds 2 to the counter.
// rejected for: out_of_bounds
// leads to: How often
extern "C" __global__ void dispatch(const float* x, const int* expert, int* next, float* packed, int* owner, int tokens, int d) {
    int token = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token >= tokens) return;
    int row = 0;
    if (lane == 0) {
        row = atomicAdd(&next[expert[token]], 2);
        owner[row] = token;
    }
    row = __shfl_sync(0xffffffff, row, 0);
    for (int i = lane; i < d; i += 32) packed[(long long)row * d + i] = x[(long long)token * d + i];
}
