// Takes the layout for all positions, then all velocities.
// rejected for: wrong_output
// leads to: places 2 i and 2 i + 1
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float position = start[i], velocity = start[n + i];
    for (int turn = 0; turn < turns; turn++) {
        velocity -= dt / 2 * position;
        position += dt * velocity;
        velocity -= dt / 2 * position;
    }
    state[i] = position;
    state[n + i] = velocity;
}
