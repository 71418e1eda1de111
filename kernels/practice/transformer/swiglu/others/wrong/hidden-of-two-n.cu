// Takes rows of hidden for 2 n long.
// rejected for: out_of_bounds
// leads to: a row of `hidden` has n
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * 2 * n + column] = gate / (1.0f + __expf(-gate)) * from[n + column];
}
