// Frame i is put at place i.
// rejected for: race
// leads to: owns places 2 * i
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        frames[i] = channels[i];
        frames[i + 1] = channels[n + i];
    }
}
