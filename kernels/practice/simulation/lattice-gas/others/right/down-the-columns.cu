// Neighboring threads take cells one below the other, a row apart.
// does not reach: Neighbors next to each other
__device__ unsigned after_collision(unsigned cell) { return cell == 5 ? 10 : cell == 10 ? 5 : cell; }

extern "C" __global__ void gas_step(const unsigned char* from, unsigned char* to, int height, int width) {
    for (int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x; i < height * width; i += gridDim.x * gridDim.y * blockDim.x) {
        int row = i % height, column = i / height;
        unsigned moved = after_collision(from[row * width + (column + width - 1) % width]) & 1;
        moved |= after_collision(from[(row + 1) % height * width + column]) & 2;
        moved |= after_collision(from[row * width + (column + 1) % width]) & 4;
        moved |= after_collision(from[(row + height - 1) % height * width + column]) & 8;
        to[row * width + column] = moved;
    }
}
