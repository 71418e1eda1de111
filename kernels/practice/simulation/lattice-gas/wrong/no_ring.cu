// A thread for each cell asks its four neighbors what each of them sends here. Every cell is written by one thread.
//@ kernel
__device__ unsigned after_collision(unsigned cell) {
    if (cell == 5) return 10;  // east and west leave as north and south
    if (cell == 10) return 5;
    return cell;
}

extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= width) return;
    int west = column - 1, east = column < width - 1 ? column + 1 : 0;
    int north = row - 1, south = row < height - 1 ? row + 1 : 0;
    unsigned moved = after_collision(from[row * width + west]) & 1;  // flies east
    moved |= after_collision(from[south * width + column]) & 2;      // flies north
    moved |= after_collision(from[row * width + east]) & 4;          // flies west
    moved |= after_collision(from[north * width + column]) & 8;      // flies south
    to[row * width + column] = moved;
}
//@ end
