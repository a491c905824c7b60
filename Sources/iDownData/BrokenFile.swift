// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

/// The name under which a file that cannot be read is kept: `<name>.broken-<date>`.
enum BrokenFile {
    /// A free path beside `path`: `….broken-20260131-235959`, in UTC, with `-2` and so on where
    /// that is taken.
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

    /// The last of those names under which a database is kept; nil where none is.
    static func last(for path: String, in files: Files) throws(FileFailure) -> String? {
        let folder = Files.parent(of: path)
        let names = try files.names(in: folder).map { "\(folder)/\($0)" }
        return names.filter { name in
            name.hasPrefix(path + ".broken-")
                && !DatabaseFile.companions.contains { name.hasSuffix($0) }
        }.max()
    }

    /// The date and time in UTC: gmtime_r(3), strftime(3).
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
