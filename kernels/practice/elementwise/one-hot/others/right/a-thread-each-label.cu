// One thread writes a whole row, so neighbouring threads are a row apart.
// does not reach: Stores without a gap
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    for (int column = 0; column < classes; column++) y[row * classes + column] = column == labels[row] ? 1.0f : 0.0f;
}
