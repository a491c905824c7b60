# SPDX-License-Identifier: Apache-2.0
"""What everybody downloads from: a real nginx, and a host of which one connection is slow."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    """Returns once somebody accepts connections."""
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.01)
    raise SystemExit(f"{process.args[0]} ended")


class Nginx:
    """Serves one folder plainly, by TLS, with a limit for each connection, and only two of those."""

    def __init__(self, folder, work):
        self.port, self.tls_port = free_port(), free_port()
        self.limited_port, self.two_port = free_port(), free_port()
        self.authority = work / "ca.pem"
        self.make_certificate(work)
        scratch = "".join(
            f"{kind}_temp_path {work}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.getuid() == 0 else ""
        config = work / "nginx.conf"
        config.write_text(
            f"""
            daemon off; master_process off; {user}
            pid {work}/nginx.pid; error_log {work}/error.log;
            events {{ worker_connections 4096; }}
            http {{
                access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; {scratch}
                root {folder};
                server {{ listen 127.0.0.1:{self.port} backlog=4096; }}
                server {{
                    listen 127.0.0.1:{self.tls_port} ssl;
                    ssl_certificate {work}/host.pem; ssl_certificate_key {work}/host.key;
                }}
                server {{ listen 127.0.0.1:{self.limited_port}; limit_rate 2m; }}
                limit_conn_zone $binary_remote_addr zone=two:1m;
                server {{
                    listen 127.0.0.1:{self.two_port};
                    limit_rate 2m; limit_conn two 2; limit_conn_status 403;
                }}
            }}
            """
        )
        self.process = subprocess.Popen(
            ["nginx", "-e", str(work / "error.log"), "-c", str(config)],
            env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self.port, self.process)

    def make_certificate(self, work):
        """A test authority, and a certificate of it for 127.0.0.1."""
        names = work / "names"
        names.write_text("subjectAltName=IP:127.0.0.1")
        for words in (
            f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Bench -keyout {work}/ca.key"
            f" -out {self.authority}",
            f"req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout {work}/host.key"
            f" -out {work}/host.csr",
            f"x509 -req -in {work}/host.csr -CA {self.authority} -CAkey {work}/ca.key"
            f" -CAcreateserial -days 2 -extfile {names} -out {work}/host.pem",
        ):
            subprocess.run(["openssl", *words.split()], check=True, stderr=subprocess.DEVNULL)

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def tls_url(self, name):
        return f"https://127.0.0.1:{self.tls_port}/{name}"

    def limited_url(self, name):
        return f"http://127.0.0.1:{self.limited_port}/{name}"

    def two_url(self, name):
        return f"http://127.0.0.1:{self.two_port}/{name}"

    def stop(self):
        self.process.terminate()
        self.process.wait()


class UnevenHost:
    """The host of uneven_host.py, as a process of its own."""

    def __init__(self, file):
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "uneven_host.py"), str(self.port), str(file)]
        )
        wait_for(self.port, self.process)
        self.runs = 0

    def url(self, name, slow):
        """Another URL each time, whose connection number `slow` is the slow one."""
        self.runs += 1
        return f"http://127.0.0.1:{self.port}/{self.runs}/{slow}/{name}"

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Trickle:
    """Serves files of 1 GiB without an end in sight: 64 KiB ten times a second for each connection."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.ends = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            connection.recv(1 << 16)
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                b"Content-Length: 1073741824\r\n\r\n"
            )
            while not self.ends.wait(0.1):
                connection.sendall(bytes(1 << 16))

    def stop(self):
        self.ends.set()
        self.listener.close()
