// SPDX-License-Identifier: Apache-2.0

import DBus

extension Proxy {
    /// A service of the desktop that is optional: it may be missing, start or stop at any time, or
    /// never answer.
    ///
    /// A call waits 5 seconds for its answer, and does not start the service.
    init(
        optional connection: Connection,
        _ name: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName
    ) {
        self.init(
            connection,
            name,
            path,
            interface,
            startsService: false,
            timeout: .seconds(5)
        )
    }

    /// Whether the service is running: its bus name has an owner.
    var isRunning: Bool {
        get async { (try? await owner ?? nil) != nil }
    }

    /// Whether the service is running, or the bus can start it.
    var isAvailable: Bool {
        get async {
            if await isRunning { return true }
            return (try? await connection.isActivatable(destination)) ?? false
        }
    }

    /// Reports the owner of the service and the signals of its interface, from any of its objects.
    ///
    /// Returns when the connection ends or the task is cancelled.
    func follow(
        _ member: MemberName? = nil,
        _ report: @Sendable (Event) async -> Void
    ) async {
        do {
            let events = try await events(member, ofAllObjects: true)
            for try await event in events { await report(event) }
        } catch {
            // The signal queue overflowed: a service that sends this much is of no use.
        }
    }

    /// Reports all properties, at the start and after each change; none while the service does not
    /// run.
    ///
    /// - Parameters:
    ///   - grace: How long the last properties stay valid after the service has stopped.
    ///   - isReady: Whether these properties may be used yet; those that may not are not reported.
    ///   - report: Receives the properties.
    func followProperties(
        grace: Duration,
        isReady: @escaping @Sendable ([String: Value]) -> Bool = { _ in true },
        _ report: @escaping @Sendable ([String: Value]) async -> Void
    ) async {
        guard let properties = try? await properties() else { return }
        let query: @Sendable () async -> ServiceAnswer<[String: Value]> = {
            do throws(BusError) {
                let known = try await properties.all()
                // A service that is still starting up counts as one that has not answered.
                return isReady(known) ? .value(known) : .noReply
            } catch {
                return ServiceAnswer(error)
            }
        }
        await ServiceAnswer.follow(properties.changes, grace: grace, query: query) { known in
            await report(known ?? [:])
        }
    }
}

extension ServiceAnswer {
    /// Reports what `query` finds, after each element of `changes`.
    ///
    /// A change that comes while a query runs leads to one more query, so that no change is missed.
    /// Returns when `changes` ends or the task is cancelled.
    ///
    /// - Parameters:
    ///   - changes: The first element comes at the start, then one each time that the answer may be
    ///     another.
    ///   - grace: How long the last answer stays valid after the service has stopped; see
    ///     ``LastKnownValue``.
    ///   - query: Asks the service.
    ///   - report: Receives the answer; nil where the service is not available.
    static func follow(
        _ changes: some AsyncSequence & Sendable,
        grace: Duration,
        query: @escaping @Sendable () async -> ServiceAnswer<Content>,
        _ report: @escaping @Sendable (Content?) async -> Void
    ) async {
        let (wakeUps, wakeUp) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let reader = Task {
            do {
                for try await _ in changes { wakeUp.yield() }
            } catch {
                // The signal queue overflowed, as in `Proxy.follow`.
            }
            wakeUp.finish()
        }
        var lastKnown = LastKnownValue<Content>(grace: grace)
        var timer: Task<Void, Never>?
        for await _ in wakeUps {
            let answer = await query()
            if lastKnown.update(with: answer, at: .now) { await report(lastKnown.value) }
            timer?.cancel()
            timer = nil
            guard let nextQuery = lastKnown.nextQuery else { continue }
            timer = Task {
                guard (try? await Task.sleep(until: nextQuery, clock: .continuous)) != nil else {
                    return
                }
                wakeUp.yield()
            }
        }
        timer?.cancel()
        reader.cancel()
    }
}
