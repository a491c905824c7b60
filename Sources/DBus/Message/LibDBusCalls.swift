// SPDX-License-Identifier: Apache-2.0

internal import CDBus
private import Synchronization

/// Wraps all calls of libdbus functions that can fail.
///
/// libdbus reports failures in three ways: FALSE or NULL when memory runs out, and a `DBusError`.
/// This type turns all of them into a thrown ``BusError``, and lets a test make any call fail.
struct LibDBusCalls: Sendable {
    /// The failures that a test has planned; nil outside of tests.
    let faults: FaultPlan?

    /// Calls a function that returns FALSE when memory runs out.
    func check(_ function: StaticString, _ body: () -> dbus_bool_t) throws(BusError) {
        guard !isFailing, body() != 0 else { throw .noMemory("\(function)") }
    }

    /// Calls a function that returns nil on failure and fills in a `DBusError`.
    func attempt<Object>(
        _ function: StaticString,
        _ body: (UnsafeMutablePointer<DBusError>) -> Object?
    ) throws(BusError) -> Object {
        guard !isFailing else { throw .noMemory("\(function)") }
        var error = cdbus_error_init()
        defer { dbus_error_free(&error) }
        if let object = body(&error) { return object }
        guard let name = error.name, let message = error.message else {
            throw .failed("\(function)")
        }
        throw BusError(ErrorName(checked: String(cString: name)), String(cString: message))
    }

    /// Whether the next call is planned to fail; counts the call.
    var isFailing: Bool { faults?.failsNext() ?? false }
}

/// Makes the n-th call into libdbus fail, for tests, and counts the calls.
package final class FaultPlan: Sendable {
    private struct Plan {
        var calls = 0
        var failing: Int?
    }

    private let plan: Mutex<Plan>

    /// Plans one failure.
    ///
    /// - Parameter n: Which call fails, counted from 1; with nil, none fails and calls are only
    ///   counted.
    package init(failing n: Int? = nil) { plan = Mutex(Plan(failing: n)) }

    /// The number of calls so far.
    package var calls: Int { plan.withLock { $0.calls } }

    /// Makes the n-th call from now on fail, counted from 1, instead of the call planned before.
    package func failNext(_ n: Int) { plan.withLock { $0.failing = $0.calls + n } }

    /// Counts one call and returns whether that call fails.
    func failsNext() -> Bool {
        plan.withLock { plan in
            plan.calls += 1
            return plan.calls == plan.failing
        }
    }
}
