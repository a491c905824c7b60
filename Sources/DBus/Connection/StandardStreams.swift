// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The three descriptors that every program should be started with.
package enum StandardStreams {
    /// Fills those that are closed; to be called before anything else opens one.
    ///
    /// Else a socket, a list or a half downloaded file would be standard error, and take whatever
    /// is said there. What is put in their place reads and writes nothing: EBADF, as if closed.
    package static func fill() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest one that is free is taken: open(2). Programs started by this one have it
            // too.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
