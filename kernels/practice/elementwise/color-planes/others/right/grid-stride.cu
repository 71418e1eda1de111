// As many threads as the grid happens to have: each takes every gridful-th pixel.
// does not reach: Four bytes with each load
// lockstep: grid = 8
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned char* pixel = pixels + 3 * i;
        red[i] = pixel[0];
        green[i] = pixel[1];
        blue[i] = pixel[2];
    }
}
