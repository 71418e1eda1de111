// Stops one pixel early.
// rejected for: never_written
// leads to: the last, incomplete group
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) {
        red[i] = pixels[3 * i];
        green[i] = pixels[3 * i + 1];
        blue[i] = pixels[3 * i + 2];
    }
}
