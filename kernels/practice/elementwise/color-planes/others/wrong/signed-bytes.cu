// Puts words together from signed bytes: a value from 128 on sets all higher bits.
// rejected for: wrong_output
// leads to: byte
extern "C" __global__ void split_planes(const unsigned char* pixels, unsigned char* red, unsigned char* green,
                                        unsigned char* blue, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const signed char* p = (const signed char*)pixels + 12 * t;
    if (4 * t + 4 <= n) {
        ((int*)red)[t] = p[0] | p[3] << 8 | p[6] << 16 | p[9] << 24;
        ((int*)green)[t] = p[1] | p[4] << 8 | p[7] << 16 | p[10] << 24;
        ((int*)blue)[t] = p[2] | p[5] << 8 | p[8] << 16 | p[11] << 24;
    } else {
        for (int i = 4 * t; i < n; i++) red[i] = pixels[3 * i], green[i] = pixels[3 * i + 1], blue[i] = pixels[3 * i + 2];
    }
}
