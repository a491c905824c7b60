// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The descriptors 0, 1 and 2, which every program should be started with.
package enum StandardStreams {
    /// Opens `/dev/null` for those that are closed; call it before anything else opens a
    /// descriptor.
    ///
    /// Otherwise a socket, a list or a partial file could become standard error and receive
    /// messages written there. The replacements neither read nor write: they give EBADF, as closed
    /// ones do.
    package static func fill() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 {
            // open(2) takes the lowest free descriptor. Programs that this one starts inherit it.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
