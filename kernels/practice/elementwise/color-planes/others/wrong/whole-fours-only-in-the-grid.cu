// Divides n by four before it rounds up: where n is 1, there is no block at all.
// rejected for: bad_launch
// leads to: grid
// lockstep: grid = ceil_div(n / 4, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 4 * t; i < min(n, 4 * t + 4); i++) {
        red[i] = pixels[3 * i];
        green[i] = pixels[3 * i + 1];
        blue[i] = pixels[3 * i + 2];
    }
}
