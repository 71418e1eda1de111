// The state is stored after every step and loaded again: volatile keeps the compiler from putting it into registers.
// does not reach: The state stays in registers
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    volatile float* own = state + 2 * i;
    own[0] = start[2 * i];
    own[1] = start[2 * i + 1];
    for (int turn = 0; turn < turns; turn++) {
        own[1] = own[1] - 0.5f * dt * own[0];
        own[0] = own[0] + dt * own[1];
        own[1] = own[1] - 0.5f * dt * own[0];
    }
}
