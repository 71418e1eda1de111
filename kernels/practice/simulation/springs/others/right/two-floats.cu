// Two float loads, each of every other float.
// does not reach: Both numbers in one load
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float position = start[2 * i], velocity = start[2 * i + 1];
    for (int turn = 0; turn < turns; turn++) {
        velocity -= 0.5f * dt * position;
        position += dt * velocity;
        velocity -= 0.5f * dt * position;
    }
    state[2 * i] = position;
    state[2 * i + 1] = velocity;
}
