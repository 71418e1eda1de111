// Right begins one place too early.
// rejected for: wrong_output
// leads to: channels[n + i]
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        frames[2 * i] = channels[i];
        frames[2 * i + 1] = channels[n - 1 + i];
    }
}
