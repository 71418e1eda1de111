// A loop over the grid by vectors, and the rest by the first threads.
#include "lab.cuh"
// lockstep: grid = 4
// lockstep: block = 128
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const float4 *xs = reinterpret_cast<const float4 *>(x), *ys = reinterpret_cast<const float4 *>(y);
    for (int v = thread; v < n / 4; v += threads) {
        float4 a = xs[v], b = ys[v];
        reinterpret_cast<float4 *>(out)[v] =
            make_float4(fmaf(alpha, a.x, b.x), fmaf(alpha, a.y, b.y), fmaf(alpha, a.z, b.z), fmaf(alpha, a.w, b.w));
    }
    int i = n / 4 * 4 + thread;
    if (i < n) out[i] = fmaf(alpha, x[i], y[i]);
}
