// TODO: frame i is left i and right i. So far both samples of a frame are the left one.
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) frames[2 * i] = frames[2 * i + 1] = channels[i];
}
