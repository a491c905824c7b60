// SPDX-License-Identifier: Apache-2.0

// The least that any download has to do: one GET, recv into 256 KiB, pwrite, one fsync.
// usage: raw PORT PATH FILE

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 256 << 10 };
static char buffer[SIZE];

static int fail(const char *what) {
    perror(what);
    return 1;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int line = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(line, (struct sockaddr *)&address, sizeof address)) return fail("connect");
    int length = snprintf(
        buffer, SIZE, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", words[2]);
    if (send(line, buffer, length, 0) != length) return fail("send");

    int file = open(words[3], O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0) return fail("open");
    // The head fits the first reads; the body starts behind the empty line.
    size_t filled = 0;
    char *body = NULL;
    while (!body) {
        ssize_t got = recv(line, buffer + filled, SIZE - 1 - filled, 0);
        if (got <= 0) return fail("recv");
        filled += got;
        buffer[filled] = 0;
        body = strstr(buffer, "\r\n\r\n");
    }
    body += 4;
    off_t offset = 0;
    size_t rest = filled - (body - buffer);
    memmove(buffer, body, rest);
    filled = rest;
    for (;;) {
        ssize_t got = recv(line, buffer + filled, SIZE - filled, 0);
        if (got < 0) return fail("recv");
        filled += got;
        if (filled == SIZE || got == 0) {
            if (pwrite(file, buffer, filled, offset) != (ssize_t)filled) return fail("pwrite");
            offset += filled;
            filled = 0;
        }
        if (got == 0) break;
    }
    return fsync(file) ? fail("fsync") : 0;
}
