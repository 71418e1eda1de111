// Applies SiLU to the up value, and multiplies by the plain gate.
// rejected for: wrong_output
// leads to: applied to the gate
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = gate * from[n + column] / (1.0f + __expf(-from[n + column]));
}
