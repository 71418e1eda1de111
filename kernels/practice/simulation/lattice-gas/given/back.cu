// One step backwards: each cell fetches its particles from where they have flown to, then undoes the collision.
extern "C" __global__ void gas_back(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= width) return;
    int west = column > 0 ? column - 1 : width - 1, east = column < width - 1 ? column + 1 : 0;
    int north = row > 0 ? row - 1 : height - 1, south = row < height - 1 ? row + 1 : 0;
    unsigned cell = from[row * width + east] & 1;
    cell |= from[north * width + column] & 2;
    cell |= from[row * width + west] & 4;
    cell |= from[south * width + column] & 8;
    to[row * width + column] = cell == 5 ? 10 : cell == 10 ? 5 : cell;
}

extern "C" __global__ void copy_cells(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < width) to[row * width + column] = from[row * width + column];
}
