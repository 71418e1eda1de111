// Where the features are a multiple of four it takes four at once, from the node itself.
// rejected for: wrong_output
// leads to: not of the node itself
extern "C" __global__ void neighbor_sum(const int* start, const int* neighbor, const float* x, float* y, int nodes, int features) {
    int node = blockIdx.x * blockDim.y + threadIdx.y;
    if (node >= nodes) return;
    for (int j = threadIdx.x; j < features; j += blockDim.x) {
        float sum = 0.0f;
        for (int i = start[node]; i < start[node + 1]; i++) sum += x[(features % 4 ? neighbor[i] : node) * features + j];
        y[node * features + j] = sum;
    }
}
