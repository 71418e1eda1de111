// One thread walks along a row; neighboring threads are 300 floats apart.
// does not reach: Neighbors next to each other
// lockstep: grid = ceil_div(rows, block_x)
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float a = x[row * 300], b = x[row * 300 + 1];
    for (int i = 0; i < 298; i++) {
        float c = x[row * 300 + i + 2];
        y[row * 298 + i] = weights[0] * a + weights[1] * b + weights[2] * c;
        a = b;
        b = c;
    }
}
