// Block r swaps row r right of the diagonal with column r below it.
// does not reach: Both tiles without a gap
// lockstep: grid = n
// lockstep: block = 128
extern "C" __global__ void transpose_in_place(float* x, int n) {
    size_t r = blockIdx.x;
    for (size_t c = r + 1 + threadIdx.x; c < n; c += blockDim.x) {
        float a = x[r * n + c], b = x[c * n + r];
        x[r * n + c] = b;
        x[c * n + r] = a;
    }
}
