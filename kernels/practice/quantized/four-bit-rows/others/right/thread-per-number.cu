// One number for each thread, so each byte is loaded twice.
// does not reach: Each byte once
// does not reach: Two or more in one store
// lockstep: grid = ceil_div(rows * n, 256)
extern "C" __global__ void expand(const unsigned char* codes, const float* scale, const unsigned char* zero, float* y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * n) return;
    int code = i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15;
    y[i] = (code - zero[i / 32]) * scale[i / 32];
}
