// TODO for the learner: y[i] = x[i] for every i below n.
extern "C" __global__ void {entry}(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
}
