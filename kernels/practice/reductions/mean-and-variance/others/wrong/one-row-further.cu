// Takes the row's start from the thread, not from the block.
// rejected for: out_of_bounds
// leads to: n elements
#define ALL 0xffffffffu

__device__ float2 sum_of_block(float2 own) {
    __shared__ float2 warps[32];
    for (int distance = 16; distance > 0; distance /= 2) {
        own.x += __shfl_xor_sync(ALL, own.x, distance);
        own.y += __shfl_xor_sync(ALL, own.y, distance);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    float2 sum = make_float2(0.0f, 0.0f);
    for (int warp = 0; warp < blockDim.x / 32; warp++) sum.x += warps[warp].x, sum.y += warps[warp].y;
    return sum;
}

extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    const float* row = x + (size_t)threadIdx.x * n;
    float shift = row[0];
    float2 sums = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float difference = row[i] - shift;
        sums.x += difference;
        sums.y += difference * difference;
    }
    sums = sum_of_block(sums);
    if (threadIdx.x == 0) {
        float offset = sums.x / n;
        mean[blockIdx.x] = shift + offset;
        variance[blockIdx.x] = sums.y / n - offset * offset;
    }
}
