// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The one way into those functions of libdbus that can fail.
///
/// libdbus has three conventions: FALSE for want of memory, NULL for want of memory, and a
/// `DBusError`. Here they become a thrown ``BusError``, and here a test can make any call fail.
struct Border: Sendable {
    /// The planned failure; nil outside of tests.
    let faults: FaultPlan?

    /// Calls a function that answers FALSE when memory runs out.
    func check(_ function: StaticString, _ body: () -> dbus_bool_t) throws(BusError) {
        guard !isFailing, body() != 0 else { throw .noMemory("\(function)") }
    }

    /// Calls a function that answers NULL when memory runs out.
    func create<Object>(
        _ function: StaticString,
        _ body: () -> Object?
    ) throws(BusError) -> Object {
        guard !isFailing, let object = body() else { throw .noMemory("\(function)") }
        return object
    }

    /// Calls a function that fills in a `DBusError` and then answers nil.
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

    /// Counts a call that has a failure of its own kind and answers whether it is to fail.
    var isFailing: Bool {
        faults?.failsNext() ?? false
    }
}
