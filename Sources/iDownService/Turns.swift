// SPDX-License-Identifier: Apache-2.0

/// Has what a client adds handed in in the order in which it asked.
///
/// Calls arrive in order, but some take longer to be judged: a folder, a hundred URLs, a metalink.
/// A value of the service's isolation; one client never waits for another.
struct Turns {
    /// The place of a call among those of its client.
    struct Turn: Sendable {
        fileprivate let client: String
        fileprivate let number: Int
    }

    private struct Line {
        var last = 0
        /// Whose turn it is.
        var next = 1
        var ended: Set<Int> = []
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private var lines: [String: Line] = [:]

    /// Whether nobody stands in line.
    var isEmpty: Bool { lines.isEmpty }

    /// Takes a place behind the calls before; it ends by ``end(_:)``, exactly once.
    mutating func begin(_ client: String) -> Turn {
        lines[client, default: Line()].last += 1
        return Turn(client: client, number: lines[client]?.last ?? 1)
    }

    /// Whether all calls before have ended.
    func hasCome(_ turn: Turn) -> Bool { lines[turn.client]?.next == turn.number }

    /// Resumes the caller when its turn has come.
    mutating func wait(for turn: Turn, _ caller: CheckedContinuation<Void, Never>) {
        guard !hasCome(turn) else { return caller.resume() }
        lines[turn.client]?.waiting[turn.number] = caller
    }

    /// Gives the place up, after its turn or before.
    mutating func end(_ turn: Turn) {
        guard var line = lines[turn.client] else { return }
        line.ended.insert(turn.number)
        while line.ended.remove(line.next) != nil { line.next += 1 }
        let caller = line.waiting.removeValue(forKey: line.next)
        lines[turn.client] = line.next > line.last ? nil : line
        caller?.resume()
    }
}
