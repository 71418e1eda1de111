// Words as in the reference, sorted with shifts and masks. The first thread of all copies the rest.
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    const unsigned* words = reinterpret_cast<const unsigned*>(pixels);
    int fours = n / 4, t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < fours) {
        unsigned a = words[3 * t], b = words[3 * t + 1], c = words[3 * t + 2];
        unsigned r = (a & 0xff) | (a >> 24) << 8 | (b >> 16 & 0xff) << 16 | (c >> 8 & 0xff) << 24;
        unsigned g = (a >> 8 & 0xff) | (b & 0xff) << 8 | (b >> 24) << 16 | (c >> 16 & 0xff) << 24;
        unsigned bl = (a >> 16 & 0xff) | (b >> 8 & 0xff) << 8 | (c & 0xff) << 16 | (c >> 24) << 24;
        reinterpret_cast<unsigned*>(red)[t] = r;
        reinterpret_cast<unsigned*>(green)[t] = g;
        reinterpret_cast<unsigned*>(blue)[t] = bl;
    }
    if (t == 0)
        for (int i = 4 * fours; i < n; i++) {
            red[i] = pixels[3 * i];
            green[i] = pixels[3 * i + 1];
            blue[i] = pixels[3 * i + 2];
        }
}
