// Where n is even it takes two masses at once, and kicks the second by the first.
// rejected for: wrong_output
// leads to: layout
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int from = n % 2 ? i : i & ~1;
    float p = start[2 * i], v = start[2 * i + 1], q = start[2 * from];
    for (int t = 0; t < turns; t++) {
        v -= dt / 2 * (t || from == i ? p : q);
        p += dt * v;
        v -= dt / 2 * p;
    }
    state[2 * i] = p;
    state[2 * i + 1] = v;
}
