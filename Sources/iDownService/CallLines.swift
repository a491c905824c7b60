// SPDX-License-Identifier: Apache-2.0

/// Calls that wait to be served, those of one client in the order in which they came.
///
/// Each client has a line of its own, and so never waits for another.
struct CallLines<Call: Sendable>: Sendable {
    private struct Line {
        var calls: [Call] = []
        /// How many of them have been taken.
        var taken = 0
        /// How many came before them.
        var before = 0
    }

    private var lines: [String: Line] = [:]

    /// Puts a call behind those of the same client.
    ///
    /// - Returns: whether a line begins with it, which is then to be served to its end.
    mutating func append(_ call: Call, from client: String) -> Bool {
        let isFirst = lines[client] == nil
        lines[client, default: Line()].calls.append(call)
        return isFirst
    }

    /// Takes the next call of a client, with its number in the line; after the last one there is no
    /// line any more.
    mutating func takeFirst(of client: String) -> (number: Int, call: Call)? {
        // In place, or each would copy the line.
        guard let index = lines.index(forKey: client) else { return nil }
        let taken = lines.values[index].taken
        guard taken < lines.values[index].calls.count else {
            lines.remove(at: index)
            return nil
        }
        let call = lines.values[index].calls[taken]
        let number = lines.values[index].before + taken + 1
        if taken + 1 == lines.values[index].calls.count {
            lines.values[index] = Line(before: number)
        } else {
            lines.values[index].taken += 1
        }
        return (number, call)
    }

    /// The number of the call of a client that came last; 0 where none waits.
    func last(of client: String) -> Int {
        lines[client].map { $0.before + $0.calls.count } ?? 0
    }
}
