// Each thread adds its first window up, then adds one sample and takes one away.
// does not reach: Each sample is loaded once
extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    int first = threadIdx.x * 4;
    if (first >= 872) return;
    const float* s = x + (size_t)blockIdx.x * 1000 + first;
    float sum = 0.0f, weight = weights[0];
    for (int t = 0; t < 129; t++) sum += s[t];
    for (int k = 0; k < 4; k++) {
        y[(size_t)blockIdx.x * 872 + first + k] = sum * weight;
        if (k < 3) sum += s[129 + k] - s[k];
    }
}
