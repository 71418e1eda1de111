// Four columns a thread, where rows begin at a multiple of sixteen bytes; else one at a time.
// lockstep: grid = ceil_div(n, 4 * block_x), ceil_div(m, 32)
// lockstep: block = 64
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int c = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int r0 = blockIdx.y * 32, r1 = min(m, r0 + 32);
    if (n % 4 == 0) {
        if (c >= n) return;
        float4 mu = *(const float4*)(mean + c), s = *(const float4*)(std + c);
        for (int r = r0; r < r1; r++) {
            float4 v = *(const float4*)(x + (size_t)r * n + c);
            v = make_float4((v.x - mu.x) / s.x, (v.y - mu.y) / s.y, (v.z - mu.z) / s.z, (v.w - mu.w) / s.w);
            *(float4*)(y + (size_t)r * n + c) = v;
        }
    } else {
        for (int k = c; k < min(n, c + 4); k++)
            for (int r = r0; r < r1; r++) y[(size_t)r * n + k] = (x[(size_t)r * n + k] - mean[k]) / std[k];
    }
}
