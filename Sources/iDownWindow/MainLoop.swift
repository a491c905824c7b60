// SPDX-License-Identifier: Apache-2.0

import CGtk
import Glibc

/// GLib's loop, in which the tasks of the main actor run.
enum MainLoop {
    /// Has GLib's loop do the work of Swift's main queue, for as long as the program runs.
    static func join() {
        let queue = _dispatch_get_main_queue_handle_4CF()
        g_unix_fd_add(
            queue,
            G_IO_IN,
            { queue, _, _ in
                var count: UInt64 = 0
                _ = read(queue, &count, MemoryLayout.size(ofValue: count))
                _dispatch_main_queue_callback_4CF(nil)
                return 1
            },
            nil
        )
    }
}
