// Believes that the input has planes already.
// rejected for: wrong_output
// leads to: pixel
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        red[i] = pixels[i];
        green[i] = pixels[n + i];
        blue[i] = pixels[2 * n + i];
    }
}
