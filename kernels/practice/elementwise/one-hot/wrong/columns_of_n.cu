// Neighbouring threads write neighbouring elements of the result. A block takes 1024 of them, so the division by
// `classes` is done for each element, and it is cheap beside the store.
//@ kernel
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * classes) return;
    int row = i % n, column = i / n;
    y[i] = column == labels[row] ? 1.0f : 0.0f;
}
//@ end
