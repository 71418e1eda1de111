// Four frames are sixteen bytes, one store. Only left is loaded wide: right may begin at an odd place.
// lockstep: grid = ceil_div(n, 4 * block_x)
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const short* right = channels + n;
    if (i + 3 < n) {
        short4 l = *reinterpret_cast<const short4*>(channels + i);
        short out[8] = {l.x, right[i], l.y, right[i + 1], l.z, right[i + 2], l.w, right[i + 3]};
        *reinterpret_cast<uint4*>(frames + 2 * i) = make_uint4(
            (unsigned short)out[0] | (unsigned)(unsigned short)out[1] << 16, (unsigned short)out[2] | (unsigned)(unsigned short)out[3] << 16,
            (unsigned short)out[4] | (unsigned)(unsigned short)out[5] << 16, (unsigned short)out[6] | (unsigned)(unsigned short)out[7] << 16);
    } else {
        for (; i < n; i++) frames[2 * i] = channels[i], frames[2 * i + 1] = right[i];
    }
}
