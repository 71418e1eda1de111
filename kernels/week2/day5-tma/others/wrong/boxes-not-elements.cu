// Coordinates count boxes.
// rejected for: misaligned
// leads to: innermost coordinate 1
#include "tma.cuh"
// lockstep: block = 32
// lockstep: grid = ceil_div(ceil_div(columns, BOX_COLUMNS) * ceil_div(rows, BOX_ROWS), BOXES)
#define BOX_ROWS 32
#define BOX_COLUMNS 64
#define BOXES 16
#define STAGES 4

extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map,
                                const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float ring[STAGES][BOX_ROWS][BOX_COLUMNS];
    __shared__ uint64_t full[STAGES];
    if (threadIdx.x != 0) {
        return;
    }
    const int across = ceil_div(columns, BOX_COLUMNS), down = ceil_div(rows, BOX_ROWS);
    const int first = blockIdx.x * BOXES;
    const int turns = min(BOXES, across * down - first);
    auto column_of = [&](int turn) { return (first + turn) % across; };
    auto row_of = [&](int turn) { return (first + turn) / across; };

    for (int s = 0; s < STAGES; s++) {
        barrier_init(shared_address(&full[s]), 1);
    }
    barrier_init_fence();
    auto fetch = [&](int turn) {
        if (turn < turns) {
            const int stage = turn % STAGES;
            const uint32_t barrier = shared_address(&full[stage]);
            barrier_expect(barrier, sizeof(ring[0]));

            load_box(shared_address(ring[stage]), &x_map, barrier, column_of(turn), row_of(turn));
        }
    };

    for (int turn = 0; turn < STAGES - 1; turn++) {
        fetch(turn);
    }

    for (int turn = 0; turn < turns; turn++) {
        const int stage = turn % STAGES;
        barrier_wait(shared_address(&full[stage]), turn / STAGES % 2);

        store_box(&y_map, shared_address(ring[stage]), column_of(turn), row_of(turn));
        store_commit();
        store_wait_read<1>();
        fetch(turn + STAGES - 1);
    }

    store_wait_read<0>();
}
