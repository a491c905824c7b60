// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How many files and connections this process may have open: getrlimit(2).
///
/// Sessions give programs 1,024 at first, for those that use select(2); with 64 downloads of 16
/// connections, each of them a file and a folder besides, they would not do.
enum DescriptorLimit {
    private static let wanted: rlim_t = 4096

    /// Raises it as far as it is of use, and allowed.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        _ = setrlimit(resource, &limit)
    }
}
