// Believes that every record starts at a multiple of four bytes.
// rejected for: misaligned
// leads to: n % 4 == 0
#include "lab.cuh"
extern "C" __global__ void gather_batch(const signed char* raw, const float* mean, const float* scale, const int* chosen, float* y, int batch, int n)
{
    const int r = blockIdx.x;
    const char4* p = reinterpret_cast<const char4*>(raw + (long long)chosen[r] * n);
    float* o = y + (long long)r * n;
    for (int q = threadIdx.x; q < n / 4; q += blockDim.x) { const char4 v = p[q]; const int c = 4 * q;
        o[c] = (v.x - mean[c]) * scale[c]; o[c + 1] = (v.y - mean[c + 1]) * scale[c + 1]; o[c + 2] = (v.z - mean[c + 2]) * scale[c + 2]; o[c + 3] = (v.w - mean[c + 3]) * scale[c + 3]; }
    for (int c = n / 4 * 4 + threadIdx.x; c < n; c += blockDim.x) o[c] = (raw[(long long)chosen[r] * n + c] - mean[c]) * scale[c];
}
