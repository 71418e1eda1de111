// A dot product needs a sum over the whole array, and blocks cannot wait for each other inside one kernel.
// So there are two kernels: the second starts when all blocks of the first have ended.

// Block i leaves its share of the dot product in partial[i].
extern "C" __global__ void partial_dot(const float* a, const float* b, float* partial, int n) {
    // TODO: this thread's share, with a stride of the whole grid; then the sum of the block.
    if (threadIdx.x == 0) partial[blockIdx.x] = 0.0f;
}

// One block adds up all parts.
extern "C" __global__ void sum_parts(const float* partial, float* y, int parts) {
    // TODO: there may be more parts than threads.
    if (threadIdx.x == 0) y[0] = partial[0];
}
