// SPDX-License-Identifier: Apache-2.0

import iDownState

extension SegmentMap {
    /// The map's stored form: for each range the gap before it and its length, as variable-length
    /// integers.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var position: Int64 = 0
        for range in ranges {
            VariableLengthInteger.append(range.first - position, to: &bytes)
            VariableLengthInteger.append(range.length, to: &bytes)
            position = range.end
        }
        return bytes
    }

    /// Reads the stored form; nil for bytes that are not valid.
    init?(bytes: [UInt8]) {
        self.init()
        var rest = bytes[...]
        var position: Int64 = 0
        while !rest.isEmpty {
            guard let gap = VariableLengthInteger.removeFirst(from: &rest),
                let length = VariableLengthInteger.removeFirst(from: &rest)
            else { return nil }
            let (first, overflow) = position.addingReportingOverflow(gap)
            guard !overflow, let range = ByteRange(first: first, length: length) else { return nil }
            insert(range)
            position = range.end
        }
    }
}
