// TODO: collide, then fly. So far the gas stands still.
extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < width) to[row * width + column] = from[row * width + column];
}
