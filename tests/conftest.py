"""Settings for all tests: hypothesis draws the same examples every time, and never looks at the clock."""

from hypothesis import settings

settings.register_profile("armspan", derandomize=True, deadline=None, max_examples=40, print_blob=True)
settings.load_profile("armspan")
