"""Data frames as arrays: what every room that takes them can rely on."""

import numpy as np
import pandas as pd
import pytest

from armspan import LinUCB
from armspan._frames import frame_values
from armspan.diversity import audit_log
from armspan.errors import InvalidParameter


def test_two_columns_of_one_name_are_refused_even_if_all_are_numbers() -> None:
    """pandas gives both for each of the two, so that there would be four."""
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=["age", "age", "visits"])
    agent = LinUCB(ridge=1.0, alpha=0.5, feature_bound=20.0).agent(2, feature_names=["age", "visits"])
    for call in (
        lambda: frame_values("X", frame, list(frame.columns)),
        lambda: audit_log(frame, [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]),
        lambda: agent.choose_many(frame),
    ):
        with pytest.raises(InvalidParameter, match=r"must have columns with different names, got age, age, visits$"):
            call()
