// Takes every node for 64 features.
// rejected for: out_of_bounds
// leads to: features
extern "C" __global__ void neighbor_sum(const int* start, const int* neighbor, const float* x, float* y, int nodes, int features) {
    int node = blockIdx.x * blockDim.y + threadIdx.y;
    if (node >= nodes) return;
    for (int j = threadIdx.x; j < features; j += blockDim.x) {
        float sum = 0.0f;
        for (int i = start[node]; i < start[node + 1]; i++) sum += x[neighbor[i] * 64 + j];
        y[node * features + j] = sum;
    }
}
