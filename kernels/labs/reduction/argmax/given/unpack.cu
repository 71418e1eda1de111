// One thread takes the winner apart, and clears it for the next launch.
extern "C" __global__ void unpack(unsigned long long* best, int* index, float* value)
{
    if (threadIdx.x == 0) {
        const unsigned key = unsigned(*best >> 32);
        const unsigned bits = key & 0x80000000u ? key ^ 0x80000000u : ~key;
        *index = int(~unsigned(*best));
        *value = __uint_as_float(bits);
        *best = 0;
    }
}
