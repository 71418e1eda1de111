// The block copies its 768 bytes as they come, then picks every third one out of shared memory.
// does not reach: Four bytes with each load
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    __shared__ unsigned char bytes[3 * 256];
    int first = blockIdx.x * blockDim.x, here = min((int)blockDim.x, n - first);
    for (int k = threadIdx.x; k < 3 * here; k += blockDim.x) bytes[k] = pixels[3 * first + k];
    __syncthreads();
    if ((int)threadIdx.x >= here) return;
    int i = first + threadIdx.x;
    red[i] = bytes[3 * threadIdx.x];
    green[i] = bytes[3 * threadIdx.x + 1];
    blue[i] = bytes[3 * threadIdx.x + 2];
}
