"""Philox-4x32-10 against the published known answers and a pure-Python version."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armspan.kernels.philox import ARRIVALS, TIES, philox, unit, words
from tests import naive

WORD = st.integers(0, 2**32 - 1)


def test_known_answers() -> None:
    for key, counter, answer in naive.PHILOX_KNOWN_ANSWERS:
        arguments = [np.uint64(word) for word in (*key, *counter)]
        assert tuple(int(word) for word in philox(*arguments)) == answer


@given(st.tuples(WORD, WORD), st.tuples(WORD, WORD, WORD, WORD))
def test_equals_the_naive_version(key: tuple[int, int], counter: tuple[int, int, int, int]) -> None:
    arguments = [np.uint64(word) for word in (*key, *counter)]
    assert tuple(int(word) for word in philox(*arguments)) == naive.philox4x32_10(key, counter)


def test_words_put_seed_in_the_key_and_position_index_run_stream_in_the_counter() -> None:
    seed, run, position, index = 2**40 + 5, 7, 11, 13
    expected = naive.philox4x32_10((seed % 2**32, seed >> 32), (position, index, run, int(TIES)))
    assert tuple(int(word) for word in words(np.uint64(seed), run, position, index, TIES)) == expected


def test_every_part_of_the_address_matters() -> None:
    base = (3, 0, 0, 0, ARRIVALS)
    others = [(4, 0, 0, 0, ARRIVALS), (3, 1, 0, 0, ARRIVALS), (3, 0, 1, 0, ARRIVALS), (3, 0, 0, 1, ARRIVALS)]
    results = {words(*address) for address in [base, *others, (3, 0, 0, 0, TIES)]}
    assert len(results) == 6


def test_unit_is_inside_the_open_interval() -> None:
    assert 0 < unit(np.uint64(0)) < 1e-9
    assert 1 - 1e-9 < unit(np.uint64(2**32 - 1)) < 1
