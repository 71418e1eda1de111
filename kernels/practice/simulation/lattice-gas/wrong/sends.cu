extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= width) return;
    unsigned cell = from[row * width + column];
    if (cell == 5) cell = 10;
    else if (cell == 10) cell = 5;
    to[row * width + column] = 0;
    to[row * width + (column + 1) % width] |= cell & 1;
    to[(row + height - 1) % height * width + column] |= cell & 2;
    to[row * width + (column + width - 1) % width] |= cell & 4;
    to[(row + 1) % height * width + column] |= cell & 8;
}
