// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc
internal import Synchronization

/// A thread that runs posted items in order, and waits for descriptors and timers in between.
///
/// With a dispatch queue, another thread watches the descriptors and then wakes a thread for the
/// queue: each call over the bus took two wake-ups and eleven system calls, and twice the time of
/// the C library's own loop, which needs four system calls. Here one thread both waits and acts,
/// and needs four system calls as well.
///
/// Items and handlers may add and remove watches and timers; a removed handler is never called.
final class EventLoop: Sendable {
    typealias Handler = @Sendable () -> Void

    /// Nanoseconds on a clock that never goes back: clock_gettime(2), CLOCK_MONOTONIC.
    typealias Instant = UInt64

    private struct State: Sendable {
        /// The posted items that have not run yet.
        var items = Lane<Handler>()
        /// The watches, with the descriptor and the events as poll(2) takes them.
        var watches: [Int: (fd: Int32, events: Int16, isEnabled: Bool, handler: Handler)] = [:]
        var timers: [Int: (deadline: Instant, handler: Handler)] = [:]
        var lastID = 0
        /// Whether the thread waits in poll(2), so that a change has to wake it.
        var isSleeping = false
        var isEnding = false
    }

    private let state = Mutex(State())
    /// A pipe that wakes the thread: the thread polls `read`, others write to `write`.
    private let waking: (read: Int32, write: Int32)
    /// The thread's id while it runs, else 0.
    private let current = Atomic<UInt>(0)

    /// Starts the thread, with `pthread_create`; the thread keeps the loop until ``end()``.
    ///
    /// - Throws: `Failed` if no thread or no descriptor is left.
    init() throws(BusError) {
        var ends: [Int32] = [0, 0]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else {
            throw .failed("No pipe could be made: \(String(cString: strerror(errno))).")
        }
        waking = (ends[0], ends[1])
        let reading = ends[0]
        _ = watch(reading, forReading: true, isEnabled: true) {
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = read(reading, &bytes, 16)
        }
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runEventLoop, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw .failed("No thread could be started: \(String(cString: strerror(code))).")
        }
        pthread_detach(thread)
    }

    deinit {
        close(waking.read)
        close(waking.write)
    }

    var isCurrent: Bool { current.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Runs an item after all items posted before.
    func post(_ item: @escaping Handler) { change { $0.items.append(item) } }

    /// Ends the thread after the items posted so far.
    func end() { change { $0.isEnding = true } }

    // MARK: Descriptors

    /// Calls the handler each time the descriptor is ready while the watch is enabled.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor; it must stay open until the watch is removed.
    ///   - forReading: Whether to watch for reading; otherwise for writing.
    ///   - isEnabled: Whether the watch starts enabled.
    ///   - handler: Runs on the thread.
    /// - Returns: The id of the watch.
    func watch(
        _ descriptor: Int32,
        forReading: Bool,
        isEnabled: Bool,
        _ handler: @escaping Handler
    ) -> Int {
        let events = Int16(forReading ? POLLIN : POLLOUT)
        return change { state in
            state.lastID += 1
            state.watches[state.lastID] = (descriptor, events, isEnabled, handler)
            return state.lastID
        }
    }

    func setWatch(_ id: Int, isEnabled: Bool) { change { $0.watches[id]?.isEnabled = isEnabled } }

    func removeWatch(_ id: Int) { change { $0.watches[id] = nil } }

    // MARK: Times

    /// Calls the handler once, after a number of nanoseconds.
    ///
    /// - Parameters:
    ///   - wait: The nanoseconds to wait.
    ///   - handler: Runs on the thread.
    /// - Returns: The id of the timer.
    @discardableResult
    func addTimer(after wait: Instant, _ handler: @escaping Handler) -> Int {
        let deadline = Self.now + wait
        return change { state in
            state.lastID += 1
            state.timers[state.lastID] = (deadline, handler)
            return state.lastID
        }
    }

    func removeTimer(_ id: Int) { change { $0.timers[id] = nil } }

    private static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Changes the state and wakes the thread if it is waiting.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, mustWake) = state.withLock { state in
            let value = body(&state)
            defer { state.isSleeping = false }
            return (value, state.isSleeping)
        }
        if mustWake {
            // If the pipe is full, earlier bytes already end the wait.
            var byte: UInt8 = 0
            _ = write(waking.write, &byte, 1)
        }
        return value
    }
}

// MARK: On the thread

extension EventLoop {
    fileprivate func run() {
        current.store(UInt(pthread_self()), ordering: .relaxed)
        while runItems() {
            for id in wait() { call(id) }
        }
        current.store(0, ordering: .relaxed)
    }

    /// Runs the posted items, and the items that these post; false when the thread has to end.
    ///
    /// This is a separate function so that the thread holds no item while it waits: the last
    /// reference to an executor may be in an item, and the executor's end ends the loop.
    private func runItems() -> Bool {
        let start = Self.now
        while let item = state.withLock({ $0.items.takeFirst() }) {
            item()
            // Descriptors get a look after `longestRun`, however many items are left.
            if Self.now - start >= Self.longestRun { return true }
        }
        return state.withLock { !$0.isEnding || !$0.items.isEmpty }
    }

    /// How long items run before the next look at the descriptors, in nanoseconds.
    private static let longestRun: Instant = 300_000

    /// Waits until a descriptor or a timer is due; with items to run, it does not wait.
    ///
    /// - Returns: The ids of the watches and timers to call.
    private func wait() -> [Int] {
        let now = Self.now
        var entries: [pollfd] = []
        var ids: [Int] = []
        let timeout = state.withLock { state -> Int32 in
            for (id, watch) in state.watches where watch.isEnabled {
                entries.append(pollfd(fd: watch.fd, events: watch.events, revents: 0))
                ids.append(id)
            }
            guard state.items.isEmpty, !state.isEnding else { return 0 }
            state.isSleeping = true
            guard let next = state.timers.values.map(\.deadline).min() else { return -1 }
            guard next > now else { return 0 }
            // Rounded up: rounded down, the loop would spin through the last millisecond.
            return Int32(clamping: (next - now + 999_999) / 1_000_000)
        }
        _ = poll(&entries, nfds_t(entries.count), timeout)
        var ready: [Int] = []
        for (entry, id) in zip(entries, ids) where entry.revents != 0 { ready.append(id) }
        return state.withLock { state in
            state.isSleeping = false
            guard !state.timers.isEmpty else { return ready }
            let now = Self.now
            let due = state.timers.filter { $0.value.deadline <= now }
                .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
            return ready + due.map { $0.key }
        }
    }

    private func call(_ id: Int) {
        // A handler that ran before may have removed this watch or timer.
        let (watch, timer) = state.withLock { ($0.watches[id], $0.timers.removeValue(forKey: id)) }
        if let watch, watch.isEnabled { watch.handler() }
        timer?.handler()
    }
}

private func runEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    // The process's other threads handle its signals.
    var signals = sigset_t()
    sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
