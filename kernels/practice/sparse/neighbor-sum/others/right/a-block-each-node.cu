// A block for each node; it keeps 32 neighbors at a time in shared memory.
// lockstep: neighbor_sum.block = 32
// lockstep: neighbor_sum.grid = nodes
extern "C" __global__ void neighbor_sum(const int* start, const int* neighbor, const float* x, float* y, int nodes, int features) {
    __shared__ int list[32];
    int node = blockIdx.x, begin = start[node], end = start[node + 1];
    for (int first = 0; first < features; first += 32) {
        int j = first + threadIdx.x;
        float sum = 0.0f;
        for (int i = begin; i < end; i += 32) {
            __syncthreads();
            if (i + (int)threadIdx.x < end) list[threadIdx.x] = neighbor[i + threadIdx.x];
            __syncthreads();
            for (int k = 0; k < min(32, end - i); k++)
                if (j < features) sum += x[(size_t)list[k] * features + j];
        }
        if (j < features) y[(size_t)node * features + j] = sum;
    }
}
