# /// script
# requires-python = ">=3.9"
# dependencies = []
# ///
"""Attention of one query, whole and in splits. Nothing but Python: run it anywhere."""

import math
import random

KEYS, SIZE, SPLITS = 1000, 16, 7


#@ partial
def partial(scores, values):
    """The average of the values, and the log-sum-exp of the scores."""
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
    total = sum(weights)
    average = [sum(w * v[i] for w, v in zip(weights, values)) / total for i in range(SIZE)]
    return average, most + math.log(total)
#@ end


def merge(parts):
    """Partial results put together: each average counts exp(its lse)."""
    most = max(lse for _, lse in parts)
    weights = [math.exp(lse - most) for _, lse in parts]
    total = sum(weights)
    average = [sum(w * part[i] for w, (part, _) in zip(weights, parts)) / total for i in range(SIZE)]
    return average, most + math.log(total)


def worst(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def main():
    random.seed(1)
    scores = [random.gauss(0, 3) for _ in range(KEYS)]
    values = [[random.gauss(0, 1) for _ in range(SIZE)] for _ in range(KEYS)]
    whole, lse = partial(scores, values)
    cuts = [KEYS * s // SPLITS for s in range(SPLITS + 1)]
    parts = [partial(scores[a:b], values[a:b]) for a, b in zip(cuts, cuts[1:])]
    merged, merged_lse = merge(parts)
    plain = [sum(part[i] for part, _ in parts) / SPLITS for i in range(SIZE)]
    print(f"merged by weights e^lse: off by {worst(whole, merged):.1e}, its lse by {abs(lse - merged_lse):.1e}")
    print(f"plain average of splits: off by {worst(whole, plain):.1e}")
    # Merging is associative: merge some, then the rest.
    some = merge([merge(parts[:3]), merge(parts[3:])])
    print(f"merged in two rounds:    off by {worst(whole, some[0]):.1e}")


if __name__ == "__main__":
    main()
