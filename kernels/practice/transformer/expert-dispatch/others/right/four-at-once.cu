// Lane 31 asks, and four numbers a lane where rows begin at a multiple of sixteen bytes.
extern "C" __global__ void dispatch(const float* x, const int* expert, int* next, float* packed, int* owner, int tokens, int d) {
    int token = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, row;
    if (token >= tokens) return;
    if (lane == 31) row = atomicAdd(&next[expert[token]], 1);
    row = __shfl_sync(~0u, row, 31);
    if (lane == 0) owner[row] = token;
    if (d % 4 == 0)
        for (int i = lane; i < d / 4; i += 32) ((float4*)(packed + (size_t)row * d))[i] = ((const float4*)(x + (size_t)token * d))[i];
    else
        for (int i = lane; i < d; i += 32) packed[(size_t)row * d + i] = x[(size_t)token * d + i];
}
