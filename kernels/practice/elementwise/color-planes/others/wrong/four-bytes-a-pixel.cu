// Takes a pixel for four bytes, as in images with transparency.
// rejected for: out_of_bounds
// leads to: pixel i begins at byte
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        red[i] = pixels[4 * i];
        green[i] = pixels[4 * i + 1];
        blue[i] = pixels[4 * i + 2];
    }
}
