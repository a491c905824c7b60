# SPDX-License-Identifier: Apache-2.0
"""python3 -m steady TEST...: runs tests. Up to three that fail run three times more, alone; one that
passes each time is called unsteady and fails nothing, as in .ci/test.

IDOWN_BESIDE is a file that another run beside this one has open, too: a test runs again once that run
has ended."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import unittest

# A shell has programs in the background ignore Control-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
names = sys.argv[1:]
beside = open(os.environ["IDOWN_BESIDE"], "ab")
fcntl.flock(beside, fcntl.LOCK_SH)
result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromNames(names))
# Each test once, though its tearDown may have failed, too; a subtest has no name to run, but its test has.
failed = [*dict.fromkeys(getattr(test, "test_case", test).id()
                         for test, _ in result.failures + result.errors)]
# A class or module that was not set up is "setUpClass (tests.Name)" or "setUpModule (tests)".
failed = [*dict.fromkeys(re.sub(r"^setUp(Class|Module) \((.*)\)$", r"\2", id) for id in failed)]
if result.wasSuccessful() and result.testsRun > 0:
    sys.exit(0)
if not 0 < len(failed) <= 3 or not all(re.match(r"tests(\.|$)", id) for id in failed):
    sys.exit(1)
fcntl.flock(beside, fcntl.LOCK_EX)
for number in range(1, 4):
    print(f"Again, alone, round {number}:", flush=True)
    again = os.environ | {"IDOWN_WORK": f"{os.environ['IDOWN_WORK']}-{number}"}
    if subprocess.run([sys.executable, "-m", "unittest", *failed], env=again).returncode != 0:
        sys.exit(1)
print("Unsteady, to be mended:", *failed)
