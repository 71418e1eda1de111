// Both threads of a pair swap it.
// rejected for: race
// leads to: one owner
// lockstep: block = 32, 32
extern "C" __global__ void transpose_in_place(float* x, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (r < n && c < n) {
        float t = x[r * n + c];
        x[r * n + c] = x[c * n + r];
        x[c * n + r] = t;
    }
}
