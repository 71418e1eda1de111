// Makes one frame more than there are.
// rejected for: out_of_bounds
// leads to: n frames
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        frames[2 * i] = channels[i];
        frames[2 * i + 1] = channels[n + i];
    }
}
