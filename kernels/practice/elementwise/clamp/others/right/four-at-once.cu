// float4 for whole groups of four, single elements for the rest.
// lockstep: grid = ceil_div(n, 4 * block_x)
__device__ float bounded(float v, float low, float high) { return fminf(fmaxf(v, low), high); }

extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *reinterpret_cast<const float4*>(x + i);
        v.x = bounded(v.x, low, high);
        v.y = bounded(v.y, low, high);
        v.z = bounded(v.z, low, high);
        v.w = bounded(v.w, low, high);
        *reinterpret_cast<float4*>(y + i) = v;
        return;
    }
    for (; i < n; i++) y[i] = bounded(x[i], low, high);
}
