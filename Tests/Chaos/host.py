# SPDX-License-Identifier: Apache-2.0
"""What is downloaded: a real nginx with a slow line, and files that are replaced now and then."""

import contextlib
import hashlib
import os
import socket
import subprocess
import time

# Bytes a second and connection: slow enough that nearly every kill finds files half done.
RATE = 1 << 18


class Host:
    """Serves files whose every version is known, and keeps count of the bytes sent."""

    def __init__(self, work, dice, rate=RATE, locations=""):
        self.dice, self.rate, self.locations = dice, rate, locations
        self.root = work / "served"
        self.root.mkdir()
        self.log = work / "access.log"
        # Of each name the digests of all versions that there ever were, and the length.
        self.versions, self.sizes = {}, {}
        self.time = int(time.time()) - 1_000_000
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        scratch = "".join(
            f"{kind}_temp_path {work}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config = work / "nginx.conf"
        config.write_text(
            f"""
            daemon off; master_process off; {"user root;" if os.getuid() == 0 else ""}
            pid {work}/nginx.pid; error_log {work}/nginx.log;
            events {{ worker_connections 1024; }}
            http {{
                log_format sent '$uri $status $body_bytes_sent $msec $request_time'
                    ' $sent_http_content_range';
                access_log {self.log} sent; sendfile on; default_type application/octet-stream;
                sendfile_max_chunk 256k; {scratch}
                server {{
                    listen 127.0.0.1:{self.port}; root {self.root}; limit_rate {self.rate};
                    {self.locations}
                }}
            }}
            """
        )
        self.process = subprocess.Popen(
            ["nginx", "-e", str(work / "nginx.log"), "-c", str(config)],
            env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin"),
        )
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                break
            if self.process.poll() is not None:
                raise SystemExit(f"nginx ended: see {work}/nginx.log")
            time.sleep(0.01)

    def add(self, size):
        """Makes a new file; its URL."""
        name = f"file-{len(self.sizes) + 1}.bin"
        self.sizes[name], self.versions[name] = size, set()
        self.replace(name)
        return self.url(name)

    def replace(self, name):
        """Another version of the same length takes the place of the file at once.

        Each has a second of its own: nginx makes its entity tag of that and the length.
        """
        content = self.dice.randbytes(self.sizes[name])
        self.versions[name].add(hashlib.sha256(content).digest())
        new = self.root / f".{name}"
        new.write_bytes(content)
        self.time += 1
        os.utime(new, (self.time, self.time))
        new.rename(self.root / name)

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def knows(self, name, path):
        """Whether a file is one of the versions from the first to the last byte."""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest() in self.versions[name]

    def sent(self):
        """The bytes of all bodies of which nginx is done."""
        with open(self.log) as log:
            return sum(int(line.split()[2]) for line in log)

    def stop(self):
        self.process.terminate()
        self.process.wait()
