// Where n is a multiple of four it takes four columns at once, all with the first one's std.
// rejected for: wrong_output
// leads to: std[column]
// lockstep: grid = ceil_div(n, block_x), ceil_div(m, 32)
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = blockIdx.y * 32; r < min(m, (int)blockIdx.y * 32 + 32); r++) {
        if (n % 4 == 0 && 4 * c < n) {
            float4 v = *(const float4*)(x + r * n + 4 * c), mu = ((const float4*)mean)[c];
            float s = std[4 * c];
            *(float4*)(y + r * n + 4 * c) = make_float4((v.x - mu.x) / s, (v.y - mu.y) / s, (v.z - mu.z) / s, (v.w - mu.w) / s);
        } else if (n % 4 && c < n) {
            y[r * n + c] = (x[r * n + c] - mean[c]) / std[c];
        }
    }
}
