// Collides its own cell after the flight, by what was in it before.
// rejected for: wrong_output
// leads to: Collide first
extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= width) return;
    int west = (column + width - 1) % width, east = (column + 1) % width;
    int north = (row + height - 1) % height, south = (row + 1) % height;
    unsigned cell = (from[row * width + west] & 1) | (from[south * width + column] & 2) | (from[row * width + east] & 4) | (from[north * width + column] & 8);
    unsigned own = from[row * width + column];
    if (own == 5 || own == 10) cell ^= 15;
    to[row * width + column] = cell;
}
