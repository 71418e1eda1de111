// Four pixels are twelve bytes: three words. A thread loads three words, sorts their bytes with __byte_perm, and stores
// one word to each plane. The last one to three pixels are copied byte by byte.
//@ kernel
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* blue, unsigned char* green,
                                        unsigned char* red, int n) {
    int four = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * four + 4 <= n) {
        const unsigned* words = (const unsigned*)pixels + 3 * four;
        unsigned a = words[0], b = words[1], c = words[2];  // r0 g0 b0 r1 | g1 b1 r2 g2 | b2 r3 g3 b3
        ((unsigned*)red)[four] = __byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210);
        ((unsigned*)green)[four] = __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210);
        ((unsigned*)blue)[four] = __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410);
        return;
    }
    for (int i = 4 * four; i < n; i++) {
        red[i] = pixels[3 * i];
        green[i] = pixels[3 * i + 1];
        blue[i] = pixels[3 * i + 2];
    }
}
//@ end
