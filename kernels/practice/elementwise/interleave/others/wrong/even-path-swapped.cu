// Where n is even it loads two samples at once, and puts the second pair together the other way round.
// rejected for: wrong_output
// leads to: left
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n % 2) {
        if (i < n) ((short2*)frames)[i] = make_short2(channels[i], channels[n + i]);
    } else if (2 * i < n) {
        short2 l = ((const short2*)channels)[i], r = ((const short2*)(channels + n))[i];
        ((short2*)frames)[2 * i] = make_short2(l.x, r.x);
        ((short2*)frames)[2 * i + 1] = make_short2(r.y, l.y);
    }
}
