# /// script
# requires-python = ">=3.9"
# dependencies = []
# ///
"""Online softmax in plain Python: how often it rescales, and that parts can be merged in any order.

Prints one line of JSON for each length of row:

    {"name": "n = 1024", "rung": "online softmax, Python", "rescales": 7.4, "median_ms": 0.3, "ok": true}

    python 05_online_softmax.py [n ...]
"""

import json
import math
import random
import statistics
import sys
import time

SIZES = [16, 1024, 32768]
ROWS = 30


def partial(scores):
    """(m, l) of some scores, and how often the maximum rose after the first."""
    m, l, rescales = -math.inf, 0.0, 0
    for x in scores:
        if x > m:
            rescales += m > -math.inf
            l = l * math.exp(m - x) + 1.0
            m = x
        else:
            l += math.exp(x - m)
    return m, l, rescales


#@ merge
def merge(a, b):
    (m_a, l_a), (m_b, l_b) = a, b
    m = max(m_a, m_b)
    if m == -math.inf:
        return a  # both are empty
    return m, l_a * math.exp(m_a - m) + l_b * math.exp(m_b - m)
#@ end


def measure(n):
    rng = random.Random()
    times, rescales, ok = [], [], True
    for _ in range(ROWS):
        scores = [rng.gauss(-130.0, 4.0) for _ in range(n)]
        start = time.perf_counter()
        m, l, count = partial(scores)
        times.append((time.perf_counter() - start) * 1e3)
        rescales.append(count)

        # Cut at three random places, where a part may be empty, and merge in random order.
        cuts = sorted(rng.randrange(n + 1) for _ in range(3))
        parts = [partial(scores[i:j])[:2] for i, j in zip([0, *cuts], [*cuts, n])]
        rng.shuffle(parts)
        merged = (-math.inf, 0.0)
        for part in parts:
            merged = merge(merged, part)
        most = max(scores)
        exact = most + math.log(math.fsum(math.exp(x - most) for x in scores))
        ok &= all(abs(top + math.log(total) - exact) < 1e-9 for top, total in ((m, l), merged))
    print(json.dumps({
        "name": f"n = {n}", "rung": "online softmax, Python", "device": "one core",
        "rescales": round(statistics.mean(rescales), 1), "median_ms": statistics.median(times), "samples": ROWS, "ok": ok,
    }))
    return ok


if __name__ == "__main__":
    sizes = [int(text) for text in sys.argv[1:]] or SIZES
    sys.exit(0 if all([measure(n) for n in sizes]) else 1)
