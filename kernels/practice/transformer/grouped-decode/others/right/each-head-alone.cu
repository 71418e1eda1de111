// Every warp loads its keys and values itself, so a group of four loads each of them four times.
// does not reach: One load for the group
#include "lab.cuh"

extern "C" __global__ void decode(const float* q, const float* k, const float* v, const int* lengths, float* out, int capacity, int heads, int key_heads) {
    int group = heads / key_heads, lane = threadIdx.x % 32, head = blockIdx.x * group + threadIdx.x / 32;
    const float* query = q + ((long long)blockIdx.y * heads + head) * 64;
    float most = -INFINITY, sum = 0.0f, a = 0.0f, b = 0.0f;
    for (int token = 0; token < lengths[blockIdx.y]; token++) {
        long long at = (((long long)blockIdx.y * capacity + token) * key_heads + blockIdx.x) * 64 + lane;
        float score = query[lane] * k[at] + query[lane + 32] * k[at + 32];
        for (int distance = 16; distance > 0; distance /= 2) score += __shfl_xor_sync(0xffffffff, score, distance);
        score /= 8.0f;
        float larger = fmaxf(most, score), rescale = expf(most - larger), weight = expf(score - larger);
        sum = sum * rescale + weight;
        a = a * rescale + weight * v[at];
        b = b * rescale + weight * v[at + 32];
        most = larger;
    }
    out[((long long)blockIdx.y * heads + head) * 64 + lane] = a / sum;
    out[((long long)blockIdx.y * heads + head) * 64 + lane + 32] = b / sum;
}
