"""Warnings that are logged once, however often there is a reason for them."""

import logging
from functools import lru_cache

LOG = logging.getLogger("armspan")


@lru_cache(maxsize=64)
def warn_once(sentence: str) -> None:
    """Log a sentence as a warning, unless that was done before."""
    LOG.warning(sentence)
