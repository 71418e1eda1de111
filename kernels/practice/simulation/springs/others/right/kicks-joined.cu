// The half kick at the end of a step and the one at the start of the next are one whole kick.
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 m = reinterpret_cast<const float2*>(start)[i];
        m.y = fmaf(-0.5f * dt, m.x, m.y);
        for (int k = 1; k < turns; ++k) {
            m.x = fmaf(dt, m.y, m.x);
            m.y = fmaf(-dt, m.x, m.y);
        }
        m.x = fmaf(dt, m.y, m.x);
        m.y = fmaf(-0.5f * dt, m.x, m.y);
        reinterpret_cast<float2*>(state)[i] = m;
    }
}
