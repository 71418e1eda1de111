// Takes the cache for [batch, key_heads, capacity, d].
// rejected for: wrong_output
// leads to: [batch, capacity, key_heads, d]
#include "lab.cuh"

extern "C" __global__ void decode(const float* q, const float* k, const float* v, const int* lengths, float* out, int capacity, int heads, int key_heads) {
    __shared__ float keys[16][64], values[16][64];
    int group = heads / key_heads, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int head = blockIdx.x * group + warp, length = lengths[blockIdx.y];
    const float* query = q + ((long long)blockIdx.y * heads + head) * 64;
    float sum = 0.0f, a = 0.0f, b = 0.0f;
    float most = -INFINITY, q0 = query[lane] * 0.125f, q1 = query[lane + 32] * 0.125f;
    for (int first = 0; first < length; first += 16) {
        int count = min(16, length - first);
        for (int i = threadIdx.x; i < count * 64; i += blockDim.x) {
            long long at = (((long long)blockIdx.y * key_heads + blockIdx.x) * capacity + first + i / 64) * 64 + i % 64;
            keys[i / 64][i % 64] = k[at];
            values[i / 64][i % 64] = v[at];
        }
        __syncthreads();
        for (int j = 0; j < count; j++) {
            float score = q0 * keys[j][lane] + q1 * keys[j][lane + 32];
            for (int distance = 16; distance > 0; distance /= 2) score += __shfl_xor_sync(0xffffffff, score, distance);
            float larger = fmaxf(most, score), rescale = expf(most - larger), weight = expf(score - larger);
            sum = sum * rescale + weight;
            a = a * rescale + weight * values[j][lane];
            b = b * rescale + weight * values[j][lane + 32];
            most = larger;
        }
        __syncthreads();
    }
    float* to = out + ((long long)blockIdx.y * heads + head) * 64;
    to[lane] = a / sum;
    to[lane + 32] = b / sum;
}
