// Where n is a multiple of four it moves words, with green and blue exchanged.
// rejected for: wrong_output
// leads to: Which plane
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (n % 4 == 0 && 4 * t < n) {
        const unsigned* w = (const unsigned*)pixels + 3 * t;
        unsigned a = w[0], b = w[1], c = w[2];
        ((unsigned*)red)[t] = __byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210);
        ((unsigned*)blue)[t] = __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210);
        ((unsigned*)green)[t] = __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410);
    } else if (n % 4) {
        for (int i = 4 * t; i < min(n, 4 * t + 4); i++) red[i] = pixels[3 * i], green[i] = pixels[3 * i + 1], blue[i] = pixels[3 * i + 2];
    }
}
