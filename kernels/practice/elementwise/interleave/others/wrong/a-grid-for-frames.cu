// One thread for each place, on a grid that has one for each frame.
// rejected for: never_written
// leads to: nobody
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < 2 * n) frames[place] = channels[place % 2 * n + place / 2];
}
