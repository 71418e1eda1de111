// Four floats a thread, but each by itself, a block apart.
// does not reach: Sixteen bytes a load
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        int i = first + k * blockDim.x;
        if (i < n) y[i] = x[i];
    }
}
