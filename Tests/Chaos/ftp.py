# SPDX-License-Identifier: Apache-2.0
"""An FTP server with a slow line, which remembers what it has sent."""

import logging
import threading
import time

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, ThrottledDTPHandler
from pyftpdlib.log import config_logging
from pyftpdlib.servers import FTPServer


config_logging(level=logging.ERROR)


class FileServer:
    """Serves a folder; `sent` holds the moment, name, first byte and length of each transfer."""

    def __init__(self, folder, rate):
        self.sent = sent = []
        authorizer = DummyAuthorizer()
        authorizer.add_anonymous(str(folder))

        class Slow(ThrottledDTPHandler):
            write_limit = rate

            def __init__(self, sock, cmd_channel):
                super().__init__(sock, cmd_channel)
                self.asked = (time.time(), cmd_channel.asked_name, cmd_channel.asked_first)

            def close(self):
                if not self._closed:
                    sent.append((*self.asked, self.tot_bytes_sent))
                super().close()

        class Handler(FTPHandler):
            use_sendfile = False
            dtp_handler = Slow
            asked_name, asked_first = "", 0

            def ftp_RETR(self, file):
                self.asked_name = file.rsplit("/", 1)[1]
                self.asked_first = self._restart_position
                return super().ftp_RETR(file)

        Handler.authorizer = authorizer
        self.server = FTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.address[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        self.server.serve_forever(handle_exit=False)

    def stop(self):
        self.server.close_all()
