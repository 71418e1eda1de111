// The other gate: GELU's tanh form.
// rejected for: wrong_output
// leads to: sigmoid multiplied by g
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = 0.5f * gate * (1.0f + tanhf(0.7978846f * (gate + 0.044715f * gate * gate * gate))) * from[n + column];
}
