#include "lab.cuh"

extern "C" __global__ void decode(const float* q, const float* k, const float* v, const int* lengths, float* out, int capacity, int heads, int key_heads) {
    int group = heads / key_heads, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int head = blockIdx.x * group + warp, length = lengths[blockIdx.y];
    const float* query = q + ((long long)blockIdx.y * heads + head) * 64;
    float sum = 0.0f, a = 0.0f, b = 0.0f;
    // TODO: go through the keys, 16 at a time. a and b are the lane's two numbers of the weighted sum of values.
    // For the tile: __shared__ float keys[16][64], values[16][64];
    a = query[lane];
    b = query[lane + 32];
    sum = length;

    float* to = out + ((long long)blockIdx.y * heads + head) * 64;
    to[lane] = a / sum;
    to[lane + 32] = b / sum;
}
