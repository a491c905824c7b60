# SPDX-License-Identifier: Apache-2.0
"""A small file system that is full now and then."""

import subprocess


class SmallDisk:
    """A tmpfs, where this user may mount one; `path` is None elsewhere."""

    def __init__(self, work, mebibytes):
        path = work / "disk"
        path.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0700", "tmpfs", str(path)]
        done = subprocess.run(mount, stderr=subprocess.DEVNULL)
        self.path = path if done.returncode == 0 else None
        self.filler = path / "somebody-else's"

    def fill(self):
        """Somebody else takes all that is left; whether there is such a disk."""
        if not self.path:
            return False
        try:
            with open(self.filler, "ab") as file:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
        except OSError:
            return True

    def make_room(self):
        if self.path:
            self.filler.unlink(missing_ok=True)

    def close(self):
        if self.path:
            subprocess.run(["umount", "--lazy", str(self.path)], check=False)
