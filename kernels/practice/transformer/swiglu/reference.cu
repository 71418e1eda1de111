// A thread for each result. Neighboring threads have neighboring columns in both halves, so both loads use whole sectors.
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = gate / (1.0f + __expf(-gate)) * from[n + column];
}
