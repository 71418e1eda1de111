// A thread copies a whole vector: its neighbors' loads are d numbers away.
// does not reach: Whole sectors
// lockstep: dispatch.grid = ceil_div(tokens, 128)
extern "C" __global__ void dispatch(const float* x, const int* expert, int* next, float* packed, int* owner, int tokens, int d) {
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens) return;
    int row = atomicAdd(&next[expert[token]], 1);
    owner[row] = token;
    for (int i = 0; i < d; i++) packed[(long long)row * d + i] = x[(long long)token * d + i];
}

