// Takes the highest byte of a word for the first in memory.
// rejected for: wrong_output
// leads to: lowest byte of a word
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * t + 4 <= n) {
        const unsigned* w = (const unsigned*)pixels + 3 * t;
        unsigned char p[12];
        for (int k = 0; k < 3; k++)
            for (int s = 0; s < 4; s++) p[4 * k + s] = w[k] >> (24 - 8 * s);
        for (int k = 0; k < 4; k++) red[4 * t + k] = p[3 * k], green[4 * t + k] = p[3 * k + 1], blue[4 * t + k] = p[3 * k + 2];
    } else {
        for (int i = 4 * t; i < n; i++) red[i] = pixels[3 * i], green[i] = pixels[3 * i + 1], blue[i] = pixels[3 * i + 2];
    }
}
