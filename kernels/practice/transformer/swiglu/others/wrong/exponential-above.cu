// Writes the sigmoid as exp(g) / (1 + exp(g)).
// rejected for: nan_output
// leads to: exp(-g)
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = gate * (expf(gate) / (1.0f + expf(gate))) * from[n + column];
}
