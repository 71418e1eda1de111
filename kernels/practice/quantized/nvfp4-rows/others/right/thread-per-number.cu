// One number for each thread, which decodes the block's scale for itself.
// does not reach: One decoded scale for sixteen
// does not reach: Wide stores
// lockstep: grid = ceil_div(rows * n, 128)
extern "C" __global__ void expand(const unsigned char* codes, const unsigned char* scales, const float* tensor_scale, float* y, int blocks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * blocks) return;
    int s = scales[i / 16], code = codes[i / 2] >> 4 * (i % 2) & 15;
    float scale = s < 8 ? s / 512.0f : exp2f((s >> 3) - 7) * (1.0f + (s & 7) / 8.0f);
    int e = code >> 1 & 3;
    float magnitude = e == 0 ? 0.5f * (code & 1) : exp2f(e - 1) * (1.0f + 0.5f * (code & 1));
    y[i] = (code & 8 ? -1.0f : 1.0f) * magnitude * scale * tensor_scale[0];
}
