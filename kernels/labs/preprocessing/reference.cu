#include "lab.cuh"

// Four pixels a thread: three words in, three float4 out.
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 4 * block_x)

//@ unpack
// Byte k of a word, as a signed number.
__device__ float byte_of(int word, int k)
{
    return (signed char)(word >> (8 * k));
}
//@ end

extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int p = 4 * i;
    if (n % 4 == 0) {
        if (p < n) {
            //@ four
            const int* words = reinterpret_cast<const int*>(pixels) + 3LL * i;
            const int word[3] = {words[0], words[1], words[2]};
#pragma unroll
            for (int c = 0; c < 3; c++) {
                float v[4];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const int byte = 3 * k + c;  // of the twelve
                    v[k] = (byte_of(word[byte / 4], byte % 4) - mean[c]) * scale[c];
                }
                *reinterpret_cast<float4*>(y + (long long)c * n + p) = make_float4(v[0], v[1], v[2], v[3]);
            }
            //@ end
        }
    } else {
        for (int q = p; q < n && q < p + 4; q++) {
            for (int c = 0; c < 3; c++) {
                y[(long long)c * n + q] = (pixels[3LL * q + c] - mean[c]) * scale[c];
            }
        }
    }
}
