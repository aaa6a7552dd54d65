"""Kernels as plain Python: tests that are quick without numba, run so. Indices are then checked, and lines counted.

Run by `make test-plain`. Every kind of kernel is in one of these; those for GPUs are in tests/simulation/test_cuda.py.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = [
    "tests/kernels/test_philox.py",
    "tests/kernels/test_choice.py",
    "tests/kernels/test_draws.py::test_alias_tables_hold_the_distribution",
    "tests/kernels/test_draws.py::test_box_features_drawn_side_by_side_are_those_drawn_one_by_one",
    "tests/kernels/test_draws.py::test_contexts_in_lanes_are_those_that_are_picked",
    "tests/kernels/test_draws.py::test_draws_do_not_depend_on_how_steps_are_blocked",
    "tests/kernels/test_draws.py::test_noise_is_the_same_in_every_environment",
    "tests/kernels/test_draws.py::test_the_vectorised_logarithm_is_right_to_the_last_place",
    "tests/kernels/test_draws.py::test_turn_is_a_point_on_the_circle",
    "tests/kernels/test_lanes.py::test_lanes_and_runs_alone_agree[16-2-2-chain]",
    "tests/kernels/test_lanes.py::test_lanes_and_runs_alone_agree[16-2-2-ties]",
    "tests/kernels/test_lanes_of_counts.py::test_lanes_and_runs_alone_agree[16-2-ties]",
    "tests/kernels/test_lanes_of_counts.py::test_lanes_and_runs_alone_agree[16-3-clicks]",
    "tests/kernels/test_vectors.py::test_numbers_are_moved_as_by_plain_python",
    "tests/events/test_events.py::test_events_are_saved_and_joined",
    "tests/events/test_events.py::test_pulls_grow_by_frames",
    "tests/policies/test_policies.py",
    "tests/policies/test_protocol.py::TestEach::test_one_feature_and_features_of_zero",
    "tests/agents/test_all_or_nothing.py",
    "tests/agents/test_family_agent.py::TestEach::test_a_decision_has_the_propensity_of_its_arm",
    "tests/agents/test_family_agent.py::TestEach::test_arms_come_and_go",
    "tests/agents/test_family_agent.py::TestEach::test_it_goes_on_after_saving_as_if_nothing_had_been",
    "tests/agents/test_family_agent.py::test_an_agent_makes_the_choices_of_a_simulation",
    "tests/agents/test_family_agent.py::test_the_general_agent_equals_the_tuned_one",
    "tests/agents/test_family_agent.py::test_the_largest_of_normals_where_some_are_certain",
    "tests/agents/test_inputs.py",
    "tests/agents/test_practical_agent.py",
    "tests/agents/test_regressions.py",
    "tests/agents/test_sketch.py::test_a_form_is_never_wrong_by_more_than_it_says",
    "tests/agents/test_sketch.py::test_they_are_used_where_they_pay",
    "tests/environments/test_late_and_opposed.py::test_engines_agree_on_late_rewards_in_every_family",
]
LEFT_OUT = [
    "tests/policies/test_policies.py::test_practical_exploration_finds_what_it_has_not_tried_where_noise_is_small",
    "tests/agents/test_practical_agent.py::test_a_rare_flag_that_was_standardised_is_not_told",
    "tests/agents/test_practical_agent.py::test_unequal_sizes_are_told_however_batches_come",
    "tests/agents/test_practical_agent.py::test_unequal_sizes_of_features_are_told_once",
    "tests/environments/test_late_and_opposed.py::test_engines_agree_on_late_rewards_in_every_family[fixed]",
]
"""They take thousands of steps, or contexts, which say nothing new of the kernels."""
WRAPS = "ignore:overflow encountered:RuntimeWarning"
"""Random numbers are made by products that wrap around, of which NumPy warns and a processor does not."""


def main() -> int:
    """Run them, with coverage."""
    pytest = ["pytest", "-m", "not slow", "-p", "no:cacheprovider", "--durations=15", "-W", WRAPS]
    pytest += [f"--deselect={test}" for test in LEFT_OUT]
    command = [sys.executable, "-m", "coverage", "run", "-m", *pytest, *TESTS]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
