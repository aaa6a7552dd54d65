"""An agent's memory of contexts: an open hash table of (arm, x) with pulls and rewards, which thins itself."""

import numpy as np

from armspan.kernels._compile import atomic_kernel, inlined, part
from armspan.kernels.agent_layout import (
    ARM,
    EMPTY,
    FEATURES,
    FOUR,
    ONE,
    REMEMBERED,
    REWARDS,
    SEEN,
    STAMP,
    SUM,
    THREE,
    TWO,
)


@part
def mix(mixed, value):
    """Stir a number's bits into a hash; -0.0 is 0.0."""
    mixed = (mixed ^ np.float64(value + 0.0).view(np.uint64)) * np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))


@part
def slot_of(memory, k, x, row):
    """Where arm k's context, a row of x, is in the hash table, or the empty slot where it would be."""
    last = np.uint64(memory.shape[0] - 1)  # slots are a power of two
    mixed, d = np.uint64(k) * np.uint64(0x9E3779B97F4A7C15), np.uint64(x.shape[1])
    i, h1, h2, h3 = np.uint64(0), ONE, TWO, THREE
    while i + FOUR <= d:  # four chains at once: each waits for its own multiplications
        mixed, h1 = mix(mixed, x[row, i]), mix(h1, x[row, i + ONE])
        h2, h3 = mix(h2, x[row, i + TWO]), mix(h3, x[row, i + THREE])
        i += FOUR
    while i < d:
        mixed = mix(mixed, x[row, i])
        i += ONE
    if d >= FOUR:
        mixed = (mixed + THREE * h1 + np.uint64(5) * h2 + np.uint64(7) * h3) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    slot = mixed & last
    while memory[slot, ARM] != EMPTY:
        if memory[slot, ARM] == k:
            same = True
            for i in range(d):
                if memory[slot, np.uint64(FEATURES) + i] != x[row, i]:
                    same = False
                    break
            if same:
                break
        slot = (slot + ONE) & last
    return slot


@atomic_kernel()
def refill(head, memory, entries, count):
    """Make the first entries (m, 4 + d), which differ, all that the table holds. Changes head and memory."""
    d = memory.shape[1] - FEATURES
    for slot in range(memory.shape[0]):
        memory[slot, ARM], memory[slot, SEEN], memory[slot, SUM] = EMPTY, 0.0, 0.0
    x = np.empty((1, d))
    for e in range(count):
        for i in range(d):
            x[0, i] = entries[e, FEATURES + i]
        slot = slot_of(memory, np.int64(entries[e, ARM]), x, 0)
        for i in range(FEATURES + d):
            memory[slot, i] = entries[e, i]
    head[REMEMBERED] = count


@atomic_kernel()
def thin(head, memory, keep):
    """Keep about so many contexts: those that were pulled most, and of equals the last. Changes head and memory."""
    slots, latest, held = memory.shape[0], 1.0 / (head[REWARDS] + 1.0), 0
    ranks, where = np.empty(slots), np.empty(slots, np.int64)
    for slot in range(slots):
        if memory[slot, ARM] != EMPTY:
            where[held], ranks[held] = slot, memory[slot, SEEN] + latest * memory[slot, STAMP]
            held += 1
    low, high = 0.0, 0.0
    for h in range(held):
        high = max(high, ranks[h] + 1.0)
    for _ in range(24):  # halve the interval in which the rank lies that so many reach
        middle, reached = (low + high) / 2.0, 0
        for h in range(held):
            reached += ranks[h] >= middle
        if reached > keep:
            low = middle
        else:
            high = middle
            if reached == keep:
                break
    kept, e = np.empty((keep, memory.shape[1])), np.int64(0)
    for equal in range(2):  # those above, and then of those that cannot be told apart as many as there is room for
        for h in range(held):
            if e < keep and (low <= ranks[h] < high if equal else ranks[h] >= high):
                for i in range(memory.shape[1]):
                    kept[e, i] = memory[where[h], i]
                e += 1
    refill(head, memory, kept, e)


@inlined
def is_crowded(head, memory, slot):
    """Whether the table must be thinned before it can hold what would be new in this slot: it is half full."""
    return memory[slot, ARM] == EMPTY and 2 * head[REMEMBERED] >= memory.shape[0]


@part
def note(head, memory, slot, k, x, row, pulls, total):
    """Note pulls of arm k in a context, a row of x, with the sum of their rewards. Changes head and memory."""
    if memory[slot, ARM] == EMPTY:
        head[REMEMBERED] += 1.0
        memory[slot, ARM] = k
        for i in range(np.uint64(x.shape[1])):
            memory[slot, np.uint64(FEATURES) + i] = x[row, i] + 0.0
    memory[slot, SEEN] += pulls
    memory[slot, SUM] += total
    memory[slot, STAMP] = head[REWARDS]


@atomic_kernel()
def remember(head, memory, k, x, row, pulls, total):
    """`note`, and where the table is half full let half of it go first: it stays in V and b."""
    slot = slot_of(memory, k, x, row)
    if is_crowded(head, memory, slot):
        thin(head, memory, memory.shape[0] // 4)
        slot = slot_of(memory, k, x, row)
    note(head, memory, slot, k, x, row, pulls, total)
