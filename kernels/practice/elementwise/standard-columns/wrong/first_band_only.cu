// A block takes 32 rows and as many columns as it has threads. A thread keeps the two numbers of its column in
// registers, and neighboring threads read neighboring elements of each row.
//@ kernel
#define ROWS 32

// lockstep: grid = ceil_div(n, block_x), ceil_div(m, ROWS)
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float middle = mean[column], spread = std[column];
    int last = min(m, (int)(blockIdx.y + 1) * ROWS);
    for (int row = 0; row < min(m, ROWS); row++) {
        size_t i = (size_t)row * n + column;
        y[i] = (x[i] - middle) / spread;
    }
}
//@ end
