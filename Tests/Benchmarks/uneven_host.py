# SPDX-License-Identifier: Apache-2.0
"""Serves one file at 1 MiB/s a connection, but one of the connections for a URL gets 20 kB/s.

The last but one part of a path says which: /7/2/file slows the second connection for /7/2/file.

usage: uneven_host.py PORT FILE
"""

import asyncio
import pathlib
import re
import sys

RATE, SLOW_RATE = 1 << 20, 20_000
#: Bodies come in so many pieces a second.
PIECES = 20


def slow_connection(path):
    parts = path.split(b"/")
    return int(parts[-2]) if len(parts) > 2 and parts[-2].isdigit() else 2


class Host:
    def __init__(self, content):
        self.content = content
        self.connections = {}

    async def serve(self, reader, writer):
        rate = None
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1]
                if rate is None:
                    number = self.connections[path] = self.connections.get(path, 0) + 1
                    rate = SLOW_RATE if number == slow_connection(path) else RATE
                await self.answer(head, writer, rate)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head, writer, rate):
        size = len(self.content)
        first, last = 0, size - 1
        lines = ["Accept-Ranges: bytes", 'ETag: "uneven"', "Content-Type: application/octet-stream"]
        if asked := re.search(rb"\r\nrange: *bytes=(\d+)-(\d*)", head, re.IGNORECASE):
            first = int(asked[1])
            last = min(int(asked[2] or last), last)
            lines = ["HTTP/1.1 206 Partial", f"Content-Range: bytes {first}-{last}/{size}"] + lines
        else:
            lines = ["HTTP/1.1 200 OK"] + lines
        lines += [f"Content-Length: {last + 1 - first}", "", ""]
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
        if head.startswith(b"HEAD "):
            return
        clock = asyncio.get_running_loop().time
        begin, offset = clock(), first
        while offset <= last:
            piece = self.content[offset : min(last + 1, offset + rate // PIECES)]
            writer.write(piece)
            await writer.drain()
            offset += len(piece)
            await asyncio.sleep(begin + (offset - first) / rate - clock())


async def main(port, file):
    host = Host(pathlib.Path(file).read_bytes())
    server = await asyncio.start_server(host.serve, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
