// The subnormal 0.5 of e2m1 taken for 1.
// rejected for: wrong_output
// leads to: no 1 in front
#include "lab.cuh"
// lockstep: decode_split.block = 128
// lockstep: decode_split.grid = heads, batch
// lockstep: decode_merge.block = 128
// lockstep: decode_merge.grid = heads, batch
// lockstep: size(partial) = batch * heads * 128
// lockstep: size(partial_lse) = batch * heads
// No split: a block has a query head and all its keys, a thread an element. The second kernel only copies.
__device__ float fp8(unsigned c)
{
    const float m = (c & 0x78) ? ldexpf(8 + (c & 7), (int)(c >> 3 & 15) - 10) : ldexpf(c & 7, -9);
    return c & 0x80 ? -m : m;
}
__device__ float fp4(unsigned c)
{
    const int e = c >> 1 & 3;
    const float m = e == 0 ? 1.0f * (c & 1) : (1.0f + 0.5f * (c & 1)) * (1 << (e - 1));
    return c & 8 ? -m : m;
}
extern "C" __global__ void decode_split(const unsigned short* q, const unsigned char* k, const float* ks, const unsigned char* v, const unsigned char* vs,
                                        const float* vscale, const int* lengths, float* partial, float* partial_lse, int batch, int heads, int key_heads, int capacity, float scale)
{
    __shared__ float parts[4];
    const int h = blockIdx.x, s = blockIdx.y, t = threadIdx.x, group = heads / key_heads, kh = h / group;
    const float mine = __uint_as_float((unsigned)q[((size_t)s * heads + h) * 128 + t] << 16) * (*ks * scale);
    float m = -1e30f, sum = 0, acc = 0;
    const int n = lengths[s];
    for (int j = 0; j < n; ++j) {
        const size_t row = ((size_t)s * capacity + j) * key_heads + kh;
        float p = mine * fp8(k[row * 128 + t]);
        for (int d = 16; d > 0; d >>= 1) p += __shfl_down_sync(0xffffffff, p, d);
        if ((t & 31) == 0) parts[t >> 5] = p;
        __syncthreads();
        const float score = parts[0] + parts[1] + parts[2] + parts[3];
        __syncthreads();
        const float next = score > m ? score : m;
        const float c = expf(m - next), w = expf(score - next);
        const float value = fp4(t % 2 ? v[row * 64 + t / 2] >> 4 : v[row * 64 + t / 2] & 15) * fp8(vs[row * 8 + t / 16]);
        acc = acc * c + w * value;
        sum = sum * c + w;
        m = next;
    }
    partial[((size_t)s * heads + h) * 128 + t] = acc / sum * *vscale;
    if (t == 0) partial_lse[(size_t)s * heads + h] = m + logf(sum);
}
extern "C" __global__ void decode_merge(const float* partial, const float* partial_lse, const int* lengths, float* out, float* lse, int batch, int heads, int key_heads, int capacity)
{
    const size_t row = (size_t)blockIdx.y * heads + blockIdx.x;
    out[row * 128 + threadIdx.x] = partial[row * 128 + threadIdx.x];
    if (threadIdx.x == 0) lse[row] = partial_lse[row];
}
