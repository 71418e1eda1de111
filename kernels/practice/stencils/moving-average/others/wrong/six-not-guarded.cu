// All 256 threads load four samples.
// rejected for: out_of_bounds
// leads to: other six
#define ALL 0xffffffffu
extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    __shared__ float before[1001], totals[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const float* row = x + (size_t)blockIdx.x * 1000;
    float own[4] = {};
    for (int k = 0; k < 4; k++) own[k] = row[4 * t + k];
    float four = own[0] + own[1] + own[2] + own[3], sum = four;
    for (int d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(ALL, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++) sum += totals[w];
    sum -= four;
    for (int k = 0; k < 4; k++) {
            before[4 * t + k] = sum;
            sum += own[k];
        }
    if (t == 249) before[1000] = sum;
    __syncthreads();
    for (int i = t; i < 872; i += blockDim.x) y[(size_t)blockIdx.x * 872 + i] = weights[0] * (before[i + 129] - before[i]);
}
