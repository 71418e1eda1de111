// One thread for each place of the output: even places are left, odd ones right.
// lockstep: grid = ceil_div(2 * n, block_x)
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < 2 * n) frames[place] = channels[(place & 1) * n + (place >> 1)];
}
