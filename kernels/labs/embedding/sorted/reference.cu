#include "lab.cuh"

// A warp for a row, four columns a lane.
extern "C" __global__ void gather_gradient(
    const float* g, const int* offsets, const int* from, float* gradient, int vocabulary, int d)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= vocabulary) {
        return;
    }
    const int begin = offsets[row];
    const int end = offsets[row + 1];
    if (d % 4 == 0) {
        for (int c = lane; c < d / 4; c += 32) {
            //@ four
            float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
            for (int k = begin; k < end; k++) {
                const float4 v = reinterpret_cast<const float4*>(g + (long long)from[k] * d)[c];
                sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
            }
            reinterpret_cast<float4*>(gradient + (long long)row * d)[c] = sum;
            //@ end
        }
    } else {
        for (int c = lane; c < d; c += 32) {
            float sum = 0.0f;
            for (int k = begin; k < end; k++) {
                sum += g[(long long)from[k] * d + c];
            }
            gradient[(long long)row * d + c] = sum;
        }
    }
}
