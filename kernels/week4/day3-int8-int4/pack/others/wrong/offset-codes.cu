// Stores code + 8.
// rejected for: wrong_output
// leads to: Codes: x / scale
#include "lab.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(n * ceil_div(k, 32), block_x)
__device__ int code_of(float v, float s) { return s == 0.0f ? 8 : (int)rintf(v / s) + 8; }
extern "C" __global__ void quantize_int4(const float* __restrict__ x, unsigned char* __restrict__ y_codes, float* __restrict__ y_scales, int n, int k)
{
    const int groups = (k + 31) / 32, g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= n * groups) return;
    const int row = g / groups, first = g % groups * 32, last = min(k, first + 32);
    const float* from = x + (size_t)row * k;
    float most = 0;
    for (int c = first; c < last; c++) most = fmaxf(most, fabsf(from[c]));
    const float s = most / 7;
    y_scales[g] = s;
    for (int c = first; c < last; c += 2) {
        const int low = code_of(from[c], s);
        const int high = c + 1 < last ? code_of(from[c + 1], s) : 0;
        y_codes[(size_t)row * ((k + 1) / 2) + c / 2] = (unsigned char)((low & 0xf) | (high << 4));
    }
}
