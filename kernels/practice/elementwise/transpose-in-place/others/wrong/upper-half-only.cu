// Fills the upper half from the lower and forgets the other way.
// rejected for: wrong_output
// leads to: mirror
// lockstep: block = 32, 32
extern "C" __global__ void transpose_in_place(float* x, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (r < n && c < n && r < c) x[r * n + c] = x[c * n + r];
}
