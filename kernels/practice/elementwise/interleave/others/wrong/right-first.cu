// The right sample comes first in each frame.
// rejected for: wrong_output
// leads to: left
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ((short2*)frames)[i] = make_short2(channels[n + i], channels[i]);
}
