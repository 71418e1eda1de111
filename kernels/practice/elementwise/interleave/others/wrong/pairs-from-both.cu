// Loads two samples at once from both rows: the second row of an odd n begins between two words.
// rejected for: misaligned
// leads to: only where n is even
// lockstep: grid = ceil_div(n, 2 * block_x)
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        short2 l = *(const short2*)(channels + i), r = *(const short2*)(channels + n + i);
        ((short2*)frames)[i] = make_short2(l.x, r.x);
        ((short2*)frames)[i + 1] = make_short2(l.y, r.y);
    } else if (i < n) {
        ((short2*)frames)[i] = make_short2(channels[i], channels[n + i]);
    }
}
