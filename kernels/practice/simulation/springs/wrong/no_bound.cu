// A thread for each mass. Position and velocity are one 8-byte load, stay in registers for all steps, and are one store.
//@ kernel
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 mass = ((const float2*)start)[i];  // x: position, y: velocity
    for (int turn = 0; turn < turns; turn++) {
        mass.y -= 0.5f * dt * mass.x;
        mass.x += dt * mass.y;
        mass.y -= 0.5f * dt * mass.x;
    }
    ((float2*)state)[i] = mass;
}
//@ end
