// A block keeps its piece of the row in shared memory, after the collision, with one cell more on each side.
extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    __shared__ unsigned char strip[258];
    const auto collided = [](unsigned cell) { return (cell == 5 || cell == 10) ? cell ^ 15u : cell; };
    int column = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y, t = threadIdx.x;
    const unsigned char* here = from + (size_t)row * width;
    if (column < width) {
        strip[t + 1] = collided(here[column]);
        if (t == 0) strip[0] = collided(here[column == 0 ? width - 1 : column - 1]);
        if (t == 255 || column == width - 1) strip[t + 2] = collided(here[column + 1 < width ? column + 1 : 0]);
    }
    __syncthreads();
    if (column >= width) return;
    const unsigned char* above = from + (size_t)(row ? row - 1 : height - 1) * width;
    const unsigned char* below = from + (size_t)(row + 1 < height ? row + 1 : 0) * width;
    to[(size_t)row * width + column] = (strip[t] & 1) | (collided(below[column]) & 2) | (strip[t + 2] & 4) | (collided(above[column]) & 8);
}
