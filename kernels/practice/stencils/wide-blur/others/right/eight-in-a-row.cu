// Each of 56 threads makes eight neighboring results and keeps eight samples in registers.
// lockstep: block = 64
extern "C" __global__ void blur(const float* __restrict__ x, const float* __restrict__ weights, float* __restrict__ y) {
    __shared__ float samples[520], taps[72];
    int t = threadIdx.x;
    for (int i = t; i < 520; i += 64) samples[i] = i < 512 ? x[blockIdx.x * 512 + i] : 0.0f;
    for (int i = t; i < 72; i += 64) taps[i] = i < 65 ? weights[i] : 0.0f;
    __syncthreads();
    if (t >= 56) return;
    float window[8], sums[8] = {};
    for (int k = 0; k < 8; k++) window[k] = samples[8 * t + k];
    for (int k = 0; k < 65; k++) {
        float weight = taps[k];
        for (int e = 0; e < 8; e++) sums[e] += weight * window[e];
        for (int e = 0; e < 7; e++) window[e] = window[e + 1];
        window[7] = samples[8 * t + 8 + k];
    }
    for (int e = 0; e < 8; e++) y[blockIdx.x * 448 + 8 * t + e] = sums[e];
}
