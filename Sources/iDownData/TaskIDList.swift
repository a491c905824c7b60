// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Stores a list of ids in a few bytes each, because a call may add 100,000 tasks under one token,
/// and a metalink may list 10,000 files.
enum TaskIDList {
    static func bytes(_ ids: [TaskID]) -> [UInt8] {
        var bytes: [UInt8] = []
        for id in ids { VariableLengthInteger.append(id.rawValue, to: &bytes) }
        return bytes
    }

    /// Returns the ids; nil for bytes that are not valid.
    static func ids(_ bytes: [UInt8]) -> [TaskID]? {
        var ids: [TaskID] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let number = VariableLengthInteger.removeFirst(from: &rest),
                let id = TaskID(rawValue: number)
            else { return nil }
            ids.append(id)
        }
        return ids
    }
}
