#include "lab.cuh"

// y[bag] = the sum of the rows of the table that are in the bag: a block a bag, four columns a thread where d allows it.
// lockstep: block = 64
extern "C" __global__ void pool_bags(
    const float* table, const int* offsets, const int* ids, float* y, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag];
    const int end = offsets[bag + 1];

    if (d % 4 == 0) {
        for (int c = threadIdx.x; c < d / 4; c += blockDim.x) {
            //@ sum
            float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 8
            for (int k = begin; k < end; k++) {
                const float4 v = reinterpret_cast<const float4*>(table + (long long)ids[k] * d)[c];
                sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
            }
            reinterpret_cast<float4*>(y + (long long)bag * d)[c] = sum;
            //@ end
        }
    } else {
        for (int c = threadIdx.x; c < d; c += blockDim.x) {
            float sum = 0.0f;
            for (int k = begin; k < end; k++) {
                sum += table[(long long)ids[k] * d + c];
            }
            y[(long long)bag * d + c] = sum;
        }
    }
}
