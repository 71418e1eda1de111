// Leaves out the last frame.
// rejected for: tail_missing
// leads to: last
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) {
        frames[2 * i] = channels[i];
        frames[2 * i + 1] = channels[n + i];
    }
}
