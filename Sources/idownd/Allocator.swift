// SPDX-License-Identifier: Apache-2.0

import CLinux

/// How the C library's malloc deals with memory that is not needed any more: mallopt(3).
///
/// Left alone it gives each thread an arena of its own, and after the first large block that was
/// freed takes all of that size from the heap, where a small one behind them keeps them. A burst of
/// odd calls left 75 MB of free memory behind so; like this, 5 MB.
enum Allocator {
    /// To be called before there is a second thread.
    static func giveBackWhatIsFree() {
        // Threads have caches of their own before it: they seldom meet.
        _ = mallopt(CLINUX_M_ARENA_MAX, 1)
        // Larger than the buffers of transfers, which come and go. Set by hand, neither of the two
        // grows by itself any more.
        _ = mallopt(CLINUX_M_MMAP_THRESHOLD, 512 << 10)
        _ = mallopt(CLINUX_M_TRIM_THRESHOLD, 1 << 20)
    }
}
