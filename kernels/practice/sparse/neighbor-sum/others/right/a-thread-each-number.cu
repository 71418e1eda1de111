// One thread for each number of y.
// lockstep: neighbor_sum.block = 128
// lockstep: neighbor_sum.grid = ceil_div(nodes * features, block_x)
extern "C" __global__ void neighbor_sum(const int* start, const int* neighbor, const float* x, float* y, int nodes, int features) {
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= nodes * features) return;
    int node = me / features, j = me % features;
    float sum = 0.0f;
    for (int i = start[node], end = start[node + 1]; i < end; ++i) sum += __ldg(&x[(size_t)__ldg(&neighbor[i]) * features + j]);
    y[me] = sum;
}
