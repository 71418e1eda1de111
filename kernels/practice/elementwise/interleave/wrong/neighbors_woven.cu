// A thread makes one frame: two loads, each beside its neighbors', and one store of both samples.
//@ kernel
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ((short2*)frames)[i] = make_short2(channels[i], channels[min(i + 1, 2 * n - 1)]);
}
//@ end
