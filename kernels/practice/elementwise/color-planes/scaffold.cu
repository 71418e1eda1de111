// TODO: write green and blue as well. Make it right first, then move four bytes at a time.
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) red[i] = pixels[3 * i];
}
