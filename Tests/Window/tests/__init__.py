# SPDX-License-Identifier: Apache-2.0
"""Uses the window as people do, against the real service and a real server: a module for each subject."""

import os
import unittest

from tests.case import ends

MODULES = ["adding", "changing", "hearing", "languages", "looking", "program", "verbs"]
# The Wayland compositor has no mouse and no keys: a test that is skipped would count as passed.
WITH_MOUSE = ["arriving", "keys", "narrow"]


class All(unittest.TestSuite):
    """All tests; what they share ends with them, before a failed one runs again alone."""

    def run(self, result, debug=False):
        try:
            return super().run(result, debug)
        finally:
            ends.close()


def load_tests(loader, _found, _pattern):
    names = MODULES + (WITH_MOUSE if os.environ["IDOWN_SCREEN"] == "x11" else [])
    return All(loader.loadTestsFromNames(f"tests.{name}" for name in names))
