// The course's part: turns the dense matrix a into compressed sparse rows.
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

// One warp for each row writes columns and values, in ascending order.
extern "C" __global__ void fill_rows(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int at = start[row];
    for (int first = 0; first < columns; first += 32) {
        float number = first + lane < columns ? a[(long long)row * columns + first + lane] : 0.0f;
        unsigned mask = __ballot_sync(0xffffffff, number != 0.0f);
        int mine = at + __popc(mask & ((1u << lane) - 1));
        if (number != 0.0f) {
            column[mine] = first + lane;
            value[mine] = number;
        }
        at += __popc(mask);
    }
}
