// The ring by remainders.
__device__ unsigned collided(unsigned cell) { return cell == 5 ? 10 : cell == 10 ? 5 : cell; }

extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= width) return;
    int west = (column + width - 1) % width, east = (column + 1) % width;
    int north = (row + height - 1) % height, south = (row + 1) % height;
    unsigned cell = collided(from[row * width + west]) & 1;
    cell |= collided(from[south * width + column]) & 2;
    cell |= collided(from[row * width + east]) & 4;
    cell |= collided(from[north * width + column]) & 8;
    to[row * width + column] = cell;
}
