// Lets one thread too many through.
// rejected for: out_of_bounds
// leads to: own no mass
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    float position = start[2 * i], velocity = start[2 * i + 1];
    for (int turn = 0; turn < turns; turn++) {
        velocity -= dt / 2 * position;
        position += dt * velocity;
        velocity -= dt / 2 * position;
    }
    state[2 * i] = position;
    state[2 * i + 1] = velocity;
}
