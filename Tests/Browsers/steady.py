# SPDX-License-Identifier: Apache-2.0
"""python3 -m steady TEST...: runs tests. Up to three that fail are run again three times, alone: who
passes each time is told as unsteady and fails nothing, as in .ci/test.

Another run beside this one has the same file open as IDOWN_BESIDE: what is run again waits for its
end."""

import fcntl
import os
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
failed = [test.id() for test, _ in result.failures + result.errors]
if result.wasSuccessful() and result.testsRun > 0:
    sys.exit(0)
# A module that could not be set up has no test that could be run alone.
if not 0 < len(failed) <= 3 or not all(id.startswith("tests.") for id in failed):
    sys.exit(1)
fcntl.flock(beside, fcntl.LOCK_EX)
for number in range(1, 4):
    print(f"Again, alone, round {number}:", flush=True)
    again = os.environ | {"IDOWN_WORK": f"{os.environ['IDOWN_WORK']}-{number}"}
    if subprocess.run([sys.executable, "-m", "unittest", *failed], env=again).returncode != 0:
        sys.exit(1)
print("Unsteady, to be mended:", *failed)
