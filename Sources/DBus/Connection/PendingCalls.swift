// SPDX-License-Identifier: Apache-2.0

/// The limits for each sender's waiting calls: their number, and the bytes of their arguments.
///
/// Each sender has limits of its own. 128 calls of a sender are served at a time; the next ones
/// start as these end or make way (``Call/makeWay()``). A call beyond the limits is refused before
/// its arguments are read. None of this applies to methods of the kinds ``MethodKind/wait`` and
/// ``MethodKind/work``.
public struct CallLimits: Sendable {
    /// The most bytes of arguments of all waiting calls, plus 128 for each call.
    ///
    /// A larger call is accepted if no other call of its sender is waiting.
    public var bytes = 16 << 20
    /// The most waiting calls; calls of ``MethodKind/wait`` and ``MethodKind/work`` methods do not
    /// count.
    public var calls = 4_096
    /// The most bytes of memory for the arguments of one call, as Swift values.
    ///
    /// Values take more memory than in a message: an empty string is 5 bytes in a message and 16 in
    /// an array.
    public var memory = 32 << 20
    /// The name of the error reply to a call beyond the limits.
    public var error: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// Returns the number by which a sender's limits are divided; 1 leaves them as they are.
    ///
    /// The connection's executor calls this for every call of a sender that has calls waiting.
    public var parts: @Sendable (BusName) -> Int = { _ in 1 }

    /// Creates limits of 16 MiB and 4,096 calls for each sender.
    public init() {}
}

/// The calls that have no answer yet, each with its task and its reply address.
///
/// The code that removes a call from here answers it, so each call is answered exactly once.
final class PendingCalls {
    private struct Entry {
        let sender: BusName?
        /// Where the reply goes; nil if the caller wants none.
        let reply: ReplyAddress?
        /// The bytes of the arguments; nil for a call that does not count.
        let size: Int?
        /// Whether the call is one of the sender's at most 128 served calls.
        var isServed = false
        /// Whether the call ends when its sender leaves the bus.
        var endsWithSender = false
        /// The handler's task; nil until the handler first suspends, and for a handler without a
        /// task.
        var task: Task<Void, Never>?
    }

    /// The waiting calls of one sender.
    private struct Load {
        var calls = 0
        var bytes = 0
        /// The number of calls that tasks are serving.
        var served = 0
        /// The ids and starts of the queued calls.
        var line = Lane<(Int, () -> Void)>()

        var hasLine: Bool { !line.isEmpty }
    }

    private static let callSize = 128
    /// The most calls of one sender that have tasks at a time, so that another sender's call waits
    /// behind no more of them.
    private static let mostServed = 128
    /// The most waiting calls of all senders together.
    private static let maximum = 65_536

    var limits = CallLimits()
    private let memory: SpareMemory
    private var lastID = 0
    private var running: [Int: Entry] = [:]
    /// The number of calls in `running` that count towards the limits.
    private var counted = 0
    private var loads: [BusName?: Load] = [:]
    /// The senders with a queued call that may start; a sender is listed once for each such call.
    private var due: [BusName?] = []

    init(_ loop: EventLoop) { memory = SpareMemory(loop) }

    /// Whether no call waits for its answer.
    var isEmpty: Bool { running.isEmpty }

    /// Checks that one more call with this many bytes may wait.
    ///
    /// - Throws: The error that the limits name.
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

    /// Records a call; `size` is nil for a call that does not count towards the limits.
    ///
    /// - Returns: The id of the call.
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

    /// Starts a recorded call, or queues it behind its sender's earlier calls.
    ///
    /// - Parameters:
    ///   - id: The call.
    ///   - hasTask: Whether the call gets a task. A call without one only waits for the calls
    ///     before it, and does not count among the 128.
    ///   - start: Starts the call; called once.
    func start(_ id: Int, hasTask: Bool, _ start: @escaping () -> Void) {
        guard let entry = running[id], entry.size != nil,
            let (served, hasLine) = loads[entry.sender].map({ ($0.served, $0.hasLine) })
        else { return start() }
        guard !hasLine, !hasTask || served < Self.mostServed else {
            loads[entry.sender]?.line.append((id, start))
            return
        }
        if hasTask {
            running[id]?.isServed = true
            loads[entry.sender]?.served += 1
        }
        start()
    }

    /// Whether calls of a sender are queued; a later call must not overtake them.
    func hasLine(_ sender: BusName?) -> Bool { loads[sender]?.hasLine ?? false }

    /// Whether queued calls may start.
    var isAnyDue: Bool { !due.isEmpty }

    /// Removes and returns the start of a queued call that may start now; nil if there is none.
    func takeDue() -> (() -> Void)? {
        while !due.isEmpty {
            let sender = due.removeFirst()
            guard let (id, start) = loads[sender]?.line.takeFirst() else { continue }
            loads[sender]?.served += 1
            running[id]?.isServed = true
            return start
        }
        return nil
    }

    /// Stores the task of a call; does nothing if the call has already been answered, as by a
    /// handler that never suspends.
    func attach(_ task: Task<Void, Never>, to id: Int) { running[id]?.task = task }

    /// Stops counting a call among its sender's 128 served calls, so that the next one may start.
    func makeWay(_ id: Int) {
        guard let entry = running[id], entry.isServed else { return }
        running[id]?.isServed = false
        endServing(entry.sender)
    }

    private func endServing(_ sender: BusName?) {
        loads[sender]?.served -= 1
        if loads[sender]?.hasLine == true { due.append(sender) }
    }

    /// Returns where the reply to a call goes; nil if it wants no reply, or has had one.
    func address(of id: Int) -> ReplyAddress? { running[id]?.reply }

    /// Removes a call and returns where its reply goes; nil if it wants no reply, or has had one.
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

    /// Lets ``cancel(endingWith:)`` cancel a call; does nothing if it has been answered.
    func endWithSender(_ id: Int) { running[id]?.endsWithSender = true }

    /// Whether calls of a sender wait that end when it leaves.
    func hasCalls(endingWith sender: BusName) -> Bool {
        running.values.contains { $0.endsWithSender && $0.sender == sender }
    }

    /// Cancels the tasks of the calls that end with a sender, who has left.
    func cancel(endingWith sender: BusName) {
        for entry in running.values where entry.endsWithSender && entry.sender == sender {
            entry.task?.cancel()
        }
    }

    /// Removes all calls and cancels their tasks; returns where the outstanding replies go.
    func cancelAll() -> [ReplyAddress] {
        defer { (running, counted, loads, due) = ([:], 0, [:], []) }
        for entry in running.values {
            entry.task?.cancel()
            if let size = entry.size { memory.callEnded(size: size) }
        }
        return running.sorted { $0.key < $1.key }.compactMap(\.value.reply)
    }
}

extension WireWriter {
    /// Whether these are the results of a long answer: more than 64 KiB.
    var isLong: Bool { bytes.count > 64 << 10 }
}
