// Packs with shifts: a negative left sample sets all bits of the right one.
// rejected for: wrong_output
// leads to: right
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ((int*)frames)[i] = channels[i] | channels[n + i] << 16;
}
