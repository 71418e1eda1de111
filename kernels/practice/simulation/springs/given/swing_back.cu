// The same three moves in the opposite order, with the opposite signs.
extern "C" __global__ void swing_back(const float* state, float* y, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 mass = ((const float2*)state)[i];
    for (int turn = 0; turn < turns; turn++) {
        mass.y += 0.5f * dt * mass.x;
        mass.x -= dt * mass.y;
        mass.y += 0.5f * dt * mass.x;
    }
    ((float2*)y)[i] = mass;
}
