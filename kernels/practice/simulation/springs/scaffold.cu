// TODO: `turns` steps of half a kick, drift, half a kick. So far time stands still.
extern "C" __global__ void swing(const float* start, float* state, float dt, int turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    state[2 * i] = start[2 * i];
    state[2 * i + 1] = start[2 * i + 1];
}
