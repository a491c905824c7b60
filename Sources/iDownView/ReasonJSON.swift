// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// One reason why a download does not move as a JSON object: `Code` and `Values`.
package struct ReasonJSON: Encodable, Sendable {
    private let reason: TaskReason

    private enum Key: String, CodingKey {
        case code = "Code"
        case values = "Values"
    }

    package init(_ reason: TaskReason) { self.reason = reason }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(reason.code, forKey: .code)
        try object.encode(reason.values.compactMapValues(Detail.init), forKey: .values)
    }
}
