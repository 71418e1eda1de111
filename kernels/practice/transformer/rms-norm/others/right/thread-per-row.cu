// One thread does a whole row; the other 255 of the block have nothing to do.
// does not reach: Whole sectors
// does not reach: One read
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    if (threadIdx.x != 0) return;
    const float* from = x + (long long)blockIdx.x * n;
    float squares = 0.0f;
    for (int i = 0; i < n; i++) squares += from[i] * from[i];
    float scale = rsqrtf(squares / n + epsilon);
    for (int i = 0; i < n; i++) y[(long long)blockIdx.x * n + i] = from[i] * scale * weight[i];
    rstd[blockIdx.x] = scale;
}
