// Every thread takes its neighbour's element.
extern "C" __global__ void {entry}(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(i + 1) % n];
}
