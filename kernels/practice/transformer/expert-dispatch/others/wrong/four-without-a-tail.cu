// Copies four at a time and forgets what is left.
// rejected for: wrong_output
// leads to: part of the vector
extern "C" __global__ void dispatch(const float* x, const int* expert, int* next, float* packed, int* owner, int tokens, int d) {
    int token = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token >= tokens) return;
    int row = 0;
    if (lane == 0) {
        row = atomicAdd(&next[expert[token]], 1);
        owner[row] = token;
    }
    row = __shfl_sync(0xffffffff, row, 0);
    for (int i = 4 * lane; i + 3 < d; i += 128)
        for (int j = i; j < i + 4; j++) packed[(long long)row * d + j] = x[(long long)token * d + j];
}
