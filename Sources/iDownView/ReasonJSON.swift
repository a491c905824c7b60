// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// One reason why a download does not move as a JSON object: `Code` and `Values`.
package struct ReasonJSON: Encodable, Sendable {
    private let reason: TaskReason

    private enum Key: String, CodingKey {
        case code = "Code"
        case values = "Values"
    }

    private enum Detail: Encodable {
        case detail(TaskReason.Detail)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .detail(.text(let text)): try container.encode(text)
            case .detail(.count(let count)): try container.encode(count)
            case .detail(.number(let number)): try container.encode(number)
            }
        }
    }

    package init(_ reason: TaskReason) { self.reason = reason }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(reason.code, forKey: .code)
        try object.encode(reason.values.mapValues { Detail.detail($0) }, forKey: .values)
    }
}
