// One store for each sample: every other place of a sector.
// does not reach: Whole frames in one store
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    frames[2 * i] = channels[i];
    frames[2 * i + 1] = channels[n + i];
}
