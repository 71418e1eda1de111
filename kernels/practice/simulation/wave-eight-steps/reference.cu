// A block takes 240 cells and 8 more on each side. Each step spoils one cell at both ends, so after 8 steps exactly its own
// are right. The state stays on the chip for all steps; two rows in turn need one barrier a step.
//@ kernel
#define TURNS 8
#define BLOCK 256
#define OWN (BLOCK - 2 * TURNS)

extern "C" __global__ void eight_steps(const float* before, const float* now, float* before_out, float* now_out, int n) {
    __shared__ float strip[2][BLOCK + 2];
    int i = blockIdx.x * OWN + (int)threadIdx.x - TURNS;  // the first and last TURNS cells are the neighbors' as well
    int cell = (i % n + n) % n;
    float last = before[cell], own = now[cell];
    for (int turn = 0; turn < TURNS; turn++) {
        float* row = strip[turn % 2] + 1;
        row[threadIdx.x] = own;
        if (threadIdx.x == 0) row[-1] = 0.0f;  // what it spoils reaches one cell further each turn, and never an own one
        if (threadIdx.x == BLOCK - 1) row[BLOCK] = 0.0f;
        __syncthreads();
        int x = threadIdx.x;
        float next = 2.0f * own - last + 0.25f * (row[x - 1] - 2.0f * own + row[x + 1]);
        last = own;
        own = next;
    }
    if (threadIdx.x >= TURNS && threadIdx.x < BLOCK - TURNS && i < n) {
        before_out[i] = last;
        now_out[i] = own;
    }
}
//@ end
