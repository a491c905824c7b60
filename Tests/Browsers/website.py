# SPDX-License-Identifier: Apache-2.0
"""A web site on loopback with files and pages that link to them, and a record of its requests."""

import http.server
import random
import socket
import ssl
import threading
import time
from urllib.parse import urlsplit

# A prime length: a range that comes from another place is never equal.
BLOCK = random.Random(1).randbytes(1_048_573)
MIB = 1 << 20


class File:
    """A file of the site, and how it is served. Its bytes begin at `seed` of BLOCK, repeated."""

    def __init__(self, size=2 * MIB, *, seed=0, name="file.bin", kind="application/octet-stream",
                 rate=0, has_length=True, has_tag=True, once=False, html_for_idown=False, late=0, headers=(),
                 guest=None):
        self.size, self.seed, self.name, self.kind = size, seed, name, kind
        self.rate, self.has_length, self.once, self.late = rate, has_length, once, late
        self.html_for_idown, self.headers, self.has_tag = html_for_idown, headers, has_tag
        # The file that comes without a login by HTTP and without the cookie `member`.
        self.guest = guest
        # Links, by their queries, that have expired.
        self.expired = set()
        # Until then a browser has no answer.
        self.is_ready = threading.Event()
        self.is_ready.set()

    def piece(self, first, count):
        start = (self.seed + first) % len(BLOCK)
        return (BLOCK[start:] + BLOCK * (count // len(BLOCK) + 1))[:count]

    def equals(self, path):
        """Whether the file at this path has these bytes, and no others."""
        if path.stat().st_size != self.size:
            return False
        with open(path, "rb") as file:
            for first in range(0, self.size, MIB):
                if file.read(MIB) != self.piece(first, min(MIB, self.size - first)):
                    return False
        return True


class Request:
    def __init__(self, handler, body):
        self.time, self.method, self.path = time.monotonic(), handler.command, handler.path
        self.headers, self.body, self.sent = handler.headers, body, 0
        # idown sends the browser's User-Agent; what a browser asks for it says with each request.
        self.is_browser = "Sec-Fetch-Dest" in handler.headers
        self.port = handler.client_address[1]

    def read(self):
        """The bytes of the answer that the browser has taken from the system's buffers, which may hold many MiB."""
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table]
        unread = sum(int(row[4].split(":")[1], 16) for row in rows if row[1].endswith(f":{self.port:04X}"))
        return self.sent - unread


class Site:
    def __init__(self, certificate=None):
        """By https with a certificate, whose file has its key, too."""
        self.files, self.pages, self.redirects, self.requests = {}, {}, {}, []
        self.cookies = {}
        # Pages that want a login by HTTP.
        self.guarded = set()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self, body)
                site.requests.append(request)
                try:
                    site.answer(self, request)
                except OSError:
                    self.close_connection = True

            do_POST = do_GET

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """Says nothing of connections that a browser has cut."""

            daemon_threads = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        self.port = self.server.server_address[1]
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def page(self, path, body):
        self.pages[path] = "<!doctype html><meta charset=utf-8><title>page</title>" + body
        return self.url(path)

    def asked(self, path, *, browser=None):
        """The requests for a path, of browsers or of idown alone."""
        return [request for request in self.requests if urlsplit(request.path).path == path
                and browser in (None, request.is_browser)]

    def reply(self, handler, status, headers=(), body=b""):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def answer(self, handler, request):
        path = urlsplit(request.path).path
        if path in self.redirects:
            return self.reply(handler, 302, [("Location", self.redirects[path](request))])
        if path in self.guarded and "Authorization" not in handler.headers:
            return self.reply(handler, 401, [("WWW-Authenticate", 'Basic realm="members"')])
        if path in self.pages:
            headers = [("Content-Type", "text/html")]
            headers += [("Set-Cookie", cookie) for cookie in self.cookies.get(path, [])]
            return self.reply(handler, 200, headers, self.pages[path].encode())
        file = self.files.get(path)
        if file is None:
            return self.reply(handler, 404)
        if file.once and len(self.asked(path)) > 1:
            return self.reply(handler, 403)
        if urlsplit(request.path).query in file.expired:
            return self.reply(handler, 403)
        if file.html_for_idown and not request.is_browser:
            return self.reply(handler, 200, [("Content-Type", "text/html")], b"<p>Log in first.")
        if request.is_browser:
            file.is_ready.wait(30)
        else:
            time.sleep(file.late)
        is_member = "Authorization" in handler.headers or "member=" in handler.headers.get("Cookie", "")
        self.send(handler, request, file.guest if file.guest and not is_member else file)

    def send(self, handler, request, file):
        first, last, asked = 0, file.size - 1, handler.headers.get("Range")
        if asked and file.has_length:
            begin, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(begin), int(end or last)
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {first}-{last}/{file.size}")
        else:
            handler.send_response(200)
        handler.send_header("Content-Type", file.kind)
        if file.name:
            handler.send_header("Content-Disposition", f'attachment; filename="{file.name}"')
        if file.has_tag:
            handler.send_header("ETag", f'"{file.size}-{file.seed}"')
        for name, value in file.headers:
            handler.send_header(name, value)
        if file.has_length:
            handler.send_header("Accept-Ranges", "bytes")
            handler.send_header("Content-Length", str(last + 1 - first))
        else:
            handler.send_header("Connection", "close")
            handler.close_connection = True
        handler.end_headers()
        start = time.monotonic()
        while first <= last:
            if urlsplit(request.path).query in file.expired:
                handler.close_connection = True
                return
            # At a rate, 1,000 pieces a second at most.
            count = min(max(16384, file.rate // 1000) if file.rate else 262_144, last + 1 - first)
            handler.wfile.write(file.piece(first, count))
            request.sent += count
            first += count
            if file.rate:
                time.sleep(max(0, start + request.sent / file.rate - time.monotonic()))

    def close(self):
        self.server.shutdown()
        self.server.server_close()
