// Eight steps backwards: the rule is its own inverse when the two moments change places.
#define TURNS 8
#define BLOCK 256
#define OWN (BLOCK - 2 * TURNS)

extern "C" __global__ void eight_back(const float* state_before, const float* state_now, float* y, int n) {
    __shared__ float strip[2][BLOCK + 2];
    int i = blockIdx.x * OWN + (int)threadIdx.x - TURNS;  // the first and last TURNS cells are the neighbors' as well
    int cell = (i % n + n) % n;
    float last = state_now[cell], own = state_before[cell];
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
        y[i] = own;
        y[n + i] = last;
    }
}

// The two rows of the start, each in a buffer of its own.
extern "C" __global__ void split(const float* start, float* before, float* now, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    before[i] = start[i];
    now[i] = start[n + i];
}
