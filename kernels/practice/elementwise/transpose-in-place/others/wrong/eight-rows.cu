// Believes that a block has 32 by 32 threads; it has 32 by 8.
// rejected for: wrong_output
// leads to: 32 by 8 threads
extern "C" __global__ void transpose_in_place(float* x, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (r < n && c < n && r < c) {
        float t = x[r * n + c];
        x[r * n + c] = x[c * n + r];
        x[c * n + r] = t;
    }
}
