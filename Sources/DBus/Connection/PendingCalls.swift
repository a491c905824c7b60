// SPDX-License-Identifier: Apache-2.0

/// How many calls of one sender may wait to be served, and how many bytes they may have.
///
/// One sender's calls take nothing from the others'; 128 are served at once, and the next ones as
/// these end or make way (``Call/makeWay()``). A call beyond the limits is refused before its arguments are read. For methods that are a
/// ``MethodKind/wait`` or ``MethodKind/work`` none of this holds.
public struct CallLimits: Sendable {
    /// Bytes of the arguments of all waiting calls, with 128 for each call; a larger call is taken
    /// where no other call of its sender waits.
    public var bytes = 16 << 20
    /// Waiting calls; those of methods that are a ``MethodKind/wait`` do not count.
    public var calls = 4_096
    /// Bytes that the arguments of one call may take once they are Swift values: an empty string is
    /// 5 bytes in a message and 16 in an array.
    public var memory = 32 << 20
    /// The name of the error that says so.
    public var error: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// Into how many parts the limits are divided for a sender, of which it has one; 1 is all.
    ///
    /// It is asked for every call of a sender that has calls waiting, on the connection's executor.
    public var parts: @Sendable (BusName) -> Int = { _ in 1 }

    /// 16 MiB and 4,096 calls for every sender.
    public init() {}
}

/// The calls that are being handled, each with its task and with whom to answer.
///
/// Whoever takes a call out answers it: so each is answered exactly once.
final class PendingCalls {
    private struct Entry {
        let sender: BusName?
        /// Nil where no answer is wanted.
        let reply: ReplyAddress?
        /// Nil for a call that does not count.
        let size: Int?
        /// Whether it is one of those of which its sender has only some served at once.
        var isServed = false
        /// Nil until the handler first suspends, and where the answer comes without a task.
        var task: Task<Void, Never>?
    }

    /// What a sender has waiting.
    private struct Load {
        var calls = 0
        var bytes = 0
        /// How many of the calls are being served by tasks.
        var served = 0
        /// What starts those that came last, the oldest first.
        var last: [(Int, () -> Void)] = []
        /// What starts those that came before these, the newest first.
        var first: [(Int, () -> Void)] = []

        var hasLine: Bool { !last.isEmpty || !first.isEmpty }

        mutating func takeFirst() -> (Int, () -> Void)? {
            if first.isEmpty { (first, last) = (last.reversed(), []) }
            guard let start = first.popLast() else { return nil }
            served += 1
            return start
        }
    }

    private static let callSize = 128
    /// So many calls of one sender have tasks at once: another sender's call waits behind no more of
    /// them.
    private static let mostServed = 128
    /// The most calls of all senders together.
    private static let maximum = 65_536

    var limits = CallLimits()
    private let memory: SpareMemory
    private var lastID = 0
    private var running: [Int: Entry] = [:]
    /// How many of these count.
    private var counted = 0
    private var loads: [BusName?: Load] = [:]
    /// The senders of calls that stand in line and may be started, once for each of these.
    private var due: [BusName?] = []

    init(_ loop: EventLoop) { memory = SpareMemory(loop) }

    /// Whether no call waits for its answer.
    var isEmpty: Bool { running.isEmpty }

    /// Whether one more call of so many bytes may wait.
    ///
    /// - Throws: The error of the limits.
    func check(_ sender: BusName?, size: Int = 0) throws(BusError) {
        guard counted < Self.maximum else {
            throw BusError(limits.error, "Too many calls are waiting. Call again later.")
        }
        guard let load = loads[sender] else { return }
        let parts = max(1, sender.map(limits.parts) ?? 1)
        guard load.calls < max(1, limits.calls / parts),
            load.bytes + size + Self.callSize <= limits.bytes / parts
        else {
            throw BusError(
                limits.error,
                "Too many calls of this client are waiting. Wait for answers before the next call."
            )
        }
    }

    /// Takes note of a call; `size` is nil for one that does not count.
    ///
    /// - Returns: what the call is known by.
    func begin(_ reply: ReplyAddress, wantsReply: Bool, size: Int?) -> Int {
        lastID += 1
        let address = wantsReply ? reply : nil
        running[lastID] = Entry(sender: reply.sender, reply: address, size: size, task: nil)
        guard let size else { return lastID }
        counted += 1
        loads[reply.sender, default: Load()].calls += 1
        loads[reply.sender]?.bytes += size + Self.callSize
        memory.callBegan(size: size)
        return lastID
    }

    /// Starts a call that has begun, or puts it in line behind those of its sender.
    ///
    /// - Parameters:
    ///   - id: the call.
    ///   - hasTask: whether it has a task of its own; others need no more than their turn.
    ///   - start: starts it, once.
    /// - Returns: what is to be called now; nil where the call stands in line.
    func start(
        _ id: Int,
        hasTask: Bool,
        _ start: @escaping () -> Void
    ) -> (() -> Void)? {
        guard let entry = running[id], entry.size != nil,
            let (served, hasLine) = loads[entry.sender].map({ ($0.served, $0.hasLine) })
        else { return start }
        guard !hasLine, !hasTask || served < Self.mostServed else {
            loads[entry.sender]?.last.append((id, start))
            return nil
        }
        guard hasTask else { return start }
        running[id]?.isServed = true
        loads[entry.sender]?.served += 1
        return start
    }

    /// Whether calls of a sender stand in line, which a later one must not overtake.
    func hasLine(_ sender: BusName?) -> Bool { loads[sender]?.hasLine ?? false }

    /// Whether calls that stood in line may be started.
    var isAnyDue: Bool { !due.isEmpty }

    /// Takes out a call that stood in line and is to be started now.
    func takeDue() -> (() -> Void)? {
        while !due.isEmpty {
            guard let (id, start) = loads[due.removeFirst()]?.takeFirst() else { continue }
            running[id]?.isServed = true
            return start
        }
        return nil
    }

    /// A handler that never suspends has finished before its task is known.
    func attach(_ task: Task<Void, Never>, to id: Int) {
        running[id]?.task = task
    }

    /// A call that is served counts no longer among those of which only some are served at once.
    func makeWay(_ id: Int) {
        guard let entry = running[id], entry.isServed else { return }
        running[id]?.isServed = false
        endServing(entry.sender)
    }

    private func endServing(_ sender: BusName?) {
        loads[sender]?.served -= 1
        if loads[sender]?.hasLine == true { due.append(sender) }
    }

    /// Where the answer to a call goes; nil where it wants none, or has had one.
    func address(of id: Int) -> ReplyAddress? { running[id]?.reply }

    /// Takes the call out; nil where it wants no answer, or has had one.
    func finish(_ id: Int) -> ReplyAddress? {
        guard let entry = running.removeValue(forKey: id) else { return nil }
        if entry.isServed { endServing(entry.sender) }
        if let size = entry.size, var load = loads[entry.sender] {
            counted -= 1
            load.calls -= 1
            load.bytes -= size + Self.callSize
            memory.callEnded(size: size)
            loads[entry.sender] = load.calls == 0 ? nil : load
        }
        return entry.reply
    }

    /// Takes all calls out and cancels their handlers; those that still want an answer.
    func cancelAll() -> [ReplyAddress] {
        defer { (running, counted, loads, due) = ([:], 0, [:], []) }
        for entry in running.values {
            entry.task?.cancel()
            if let size = entry.size { memory.callEnded(size: size) }
        }
        return running.sorted { $0.key < $1.key }.compactMap(\.value.reply)
    }
}

/// Answers that wait until shorter ones are with the bus, first in, first out.
struct LongAnswers {
    /// Whether an answer has more than 64 KiB.
    static func isLong(_ results: WireWriter) -> Bool { results.bytes.count > 64 << 10 }

    /// A message, which no array could hold by itself.
    private final class Held {
        let message: Message

        init(_ message: consuming Message) { self.message = message }
    }

    private var waiting: [(id: Int, held: Held)] = []

    var count: Int { waiting.count }

    mutating func append(_ message: consuming Message, to id: Int) {
        waiting.append((id, Held(message)))
    }

    /// Hands the next one to `send`, and forgets it.
    mutating func takeFirst(_ send: (Int, borrowing Message) -> Void) -> Bool {
        guard !waiting.isEmpty else { return false }
        let (id, held) = waiting.removeFirst()
        send(id, held.message)
        return true
    }
}
