// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Wraps all calls of libdbus functions that can fail.
///
/// libdbus reports failures in three ways: FALSE or NULL when memory runs out, and a `DBusError`.
/// This type turns all of them into a thrown ``BusError``, and lets a test make any call fail.
struct LibDBusCalls: Sendable {
    /// Counts a call and returns whether it fails, in a test; nil outside of tests.
    let faults: (@Sendable () -> Bool)?

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
    var isFailing: Bool { faults?() ?? false }
}
