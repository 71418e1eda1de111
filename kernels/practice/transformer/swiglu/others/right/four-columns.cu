// Four columns a thread, where both halves begin at a multiple of sixteen bytes.
// lockstep: swiglu.grid = ceil_div(n, 512), rows
__device__ float gated(float g, float u) { return g / (1.0f + expf(-g)) * u; }

extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int c = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const float *g = x + (size_t)blockIdx.y * 2 * n, *u = g + n;
    float* to = hidden + (size_t)blockIdx.y * n;
    if (n % 4 == 0 && c < n) {
        float4 a = *(const float4*)(g + c), b = *(const float4*)(u + c);
        *(float4*)(to + c) = make_float4(gated(a.x, b.x), gated(a.y, b.y), gated(a.z, b.z), gated(a.w, b.w));
    } else
        for (int i = c; i < min(c + 4, n); i++) to[i] = gated(g[i], u[i]);
}
