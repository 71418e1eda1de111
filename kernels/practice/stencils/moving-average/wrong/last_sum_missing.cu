// A block for each row. A thread sums four neighboring samples, the block scans those 250 sums, and the running sums go to
// shared memory. A window's sum is the difference of two of them, however wide the window is.
//@ kernel
#define COLUMNS 1000
#define WINDOW 129
#define RESULTS (COLUMNS - WINDOW + 1)
#define ALL 0xffffffffu

extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    __shared__ __align__(16) float before[COLUMNS + 1];  // before[i]: the sum of the samples before i
    __shared__ float warps[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float4 own = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (threadIdx.x < COLUMNS / 4) own = ((const float4*)(x + (size_t)blockIdx.x * COLUMNS))[threadIdx.x];
    float four = own.x + own.y + own.z + own.w, sum = four;
    for (int distance = 1; distance < 32; distance *= 2) {
        float left = __shfl_up_sync(ALL, sum, distance);
        if (lane >= distance) sum += left;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    sum -= four;
    for (int w = 0; w < warp; w++) sum += warps[w];
    if (threadIdx.x < COLUMNS / 4) {
        float4 sums = make_float4(sum, sum + own.x, sum + (own.x + own.y), sum + (own.x + own.y + own.z));
        *(float4*)(before + 4 * threadIdx.x) = sums;
    }
    __syncthreads();
    float weight = weights[0];
    for (int i = threadIdx.x; i < RESULTS; i += blockDim.x)
        y[(size_t)blockIdx.x * RESULTS + i] = weight * (before[i + WINDOW] - before[i]);
}
//@ end
