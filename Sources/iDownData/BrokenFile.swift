// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

/// Names for unreadable files that are kept: `<name>.broken-<date>`.
enum BrokenFile {
    /// Returns an unused path beside `path`: `….broken-20260131-235959`, in UTC, followed by `-2`
    /// and so on if that exists.
    static func path(
        for path: String,
        at now: WallTime,
        in files: Files
    ) throws(FileFailure) -> String {
        let base = path + ".broken-" + stamp(now)
        var candidate = base
        var number = 2
        while try files.status(candidate) != nil {
            candidate = "\(base)-\(number)"
            number += 1
        }
        return candidate
    }

    /// Returns the latest path to which the database `path` was moved aside; nil where there is
    /// none.
    static func last(for path: String, in files: Files) throws(FileFailure) -> String? {
        let folder = Files.parent(of: path)
        let names = try files.names(in: folder).map { "\(folder)/\($0)" }
        return names.filter { name in
            name.hasPrefix(path + ".broken-")
                && !DatabaseFile.companions.contains { name.hasSuffix($0) }
        }.max()
    }

    /// Returns the date and time in UTC: gmtime_r(3), strftime(3).
    private static func stamp(_ now: WallTime) -> String {
        var seconds = time_t(now.microseconds / 1_000_000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "unknown" }
        return String(unsafeUninitializedCapacity: 32) { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                strftime($0.baseAddress, $0.count, "%Y%m%d-%H%M%S", &parts)
            }
        }
    }
}
