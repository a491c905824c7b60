// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The limit of open files and connections of this process: getrlimit(2).
///
/// Programs start with 1,024, for the sake of those that use select(2). That is too few for 64
/// downloads with 16 connections each, plus a file and a folder per download.
enum DescriptorLimit {
    private static let wanted: rlim_t = 4096

    /// Raises the limit to 4,096, or as far as allowed.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        _ = setrlimit(resource, &limit)
    }
}
