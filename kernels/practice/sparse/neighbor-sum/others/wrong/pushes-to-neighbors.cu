// Every node adds its features to its neighbors, with no atomic.
// rejected for: uninitialised
// leads to: each node fetches
extern "C" __global__ void neighbor_sum(const int* start, const int* neighbor, const float* x, float* y, int nodes, int features) {
    int node = blockIdx.x * blockDim.y + threadIdx.y;
    if (node >= nodes) return;
    for (int j = threadIdx.x; j < features; j += blockDim.x)
        for (int i = start[node]; i < start[node + 1]; i++) y[neighbor[i] * features + j] += x[node * features + j];
}
