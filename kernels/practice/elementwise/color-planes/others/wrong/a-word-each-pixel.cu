// Loads four bytes at every pixel: most pixels do not begin at a multiple of four.
// rejected for: misaligned
// leads to: multiple of 4
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) {
        unsigned word = *(const unsigned*)(pixels + 3 * i);
        red[i] = word & 0xff;
        green[i] = word >> 8 & 0xff;
        blue[i] = word >> 16 & 0xff;
    } else if (i < n) {
        red[i] = pixels[3 * i];
        green[i] = pixels[3 * i + 1];
        blue[i] = pixels[3 * i + 2];
    }
}
