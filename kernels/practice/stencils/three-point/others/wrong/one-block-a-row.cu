// Has one block for each row: results from 256 on have no thread.
// rejected for: never_written
// leads to: no owner
// lockstep: grid = 1, rows
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) {
        const float* s = x + row * 300 + i;
        y[row * 298 + i] = weights[0] * s[0] + weights[1] * s[1] + weights[2] * s[2];
    }
}
