// The course's part: counts the entries of each row, and computes where each row starts.
// One warp for each row counts its numbers that are not zero.
extern "C" __global__ void count_rows(const float* a, int* start, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int count = 0;
    for (int first = 0; first < columns; first += 32) {
        bool is_there = first + lane < columns && a[(long long)row * columns + first + lane] != 0.0f;
        count += __popc(__ballot_sync(0xffffffff, is_there));
    }
    if (lane == 0) start[row + 1] = count;
    if (row == 0 && lane == 0) start[0] = 0;
}

// One warp turns counts into starts, 32 rows at a time.
extern "C" __global__ void add_up(int* start, int rows) {
    int lane = threadIdx.x, before = 0;
    for (int first = 0; first < rows; first += 32) {
        int sum = first + lane < rows ? start[first + lane + 1] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(0xffffffff, sum, distance);
            if (lane >= distance) sum += other;
        }
        sum += before;
        if (first + lane < rows) start[first + lane + 1] = sum;
        before = __shfl_sync(0xffffffff, sum, 31);
    }
}
