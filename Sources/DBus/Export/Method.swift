// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

/// The kind of a method: whether its calls change something, and how long they may take.
public enum MethodKind: Sendable {
    /// A call that changes something.
    case change
    /// A call that returns something and changes nothing.
    ///
    /// A call that wants no reply is not carried out.
    case query
    /// A query that is answered when something has happened.
    ///
    /// Its calls do not count for ``CallLimits``; the method sets limits of its own.
    case wait
    /// A change that may take hours.
    ///
    /// Its calls do not count for ``CallLimits``; the method sets limits of its own.
    case work

    /// Whether a call is carried out even if the caller wants no reply.
    var isChange: Bool { self == .change || self == .work }
    /// Whether the calls count for ``CallLimits``.
    var counts: Bool { self == .change || self == .query }
}

/// A method in an interface's table: its types, and the code that runs.
struct Method: Sendable {
    let kind: MethodKind
    let inputs: [Argument]
    let outputs: [Argument]
    /// The most bytes of memory for the arguments; nil means ``CallLimits/memory``.
    var memory: Int?
    /// Returns the results without a task if they are at hand; if it returns nil, `body` runs.
    var now: Now?
    let body: Body

    var inputSignature: Signature { inputs.reduce(.empty) { $0 + $1.type } }

    typealias Now = @Sendable (Call, WireReader) -> WireWriter?

    enum Body: Sendable {
        /// Runs in a task of its own, which returns the results.
        case task(@Sendable (Call, WireReader) async throws -> WireWriter)
        /// Returns immediately and answers later, or throws to refuse the call.
        case answering(@Sendable (Call, WireReader, @escaping Answer<WireWriter>) throws -> Void)
    }
}

/// Answers one call; it may be called once, from any thread, and does nothing after the
/// connection's end.
public typealias Answer<Output> = @Sendable (Result<Output, any Error>) -> Void

extension Member {
    /// Makes a method; its signatures follow from the handler's types.
    ///
    /// The handler starts on the connection's executor, in the order of its sender's calls
    /// (``CallLimits``). The errors that it throws become error replies: a ``BusError`` is sent as
    /// it is, and any other error as the ``Interface`` says, or as
    /// `org.freedesktop.DBus.Error.Failed`.
    ///
    /// The names of arguments and results are for introspection; ``Connection/export(_:at:)`` refuses
    /// the method unless there is one for each that the handler takes and returns.
    ///
    /// - Parameters:
    ///   - name: The method.
    ///   - kind: What a call does.
    ///   - inputs: The names of the arguments.
    ///   - outputs: The names of the results.
    ///   - memory: The most bytes of memory for the arguments; nil means ``CallLimits/memory``.
    ///   - now: For a query that is asked often: returns the encoded results if they are at hand,
    ///     so that the call needs no task. It runs on the connection's executor instead of the
    ///     handler; if it returns nil, the handler runs.
    ///   - handler: The code that runs.
    /// - Returns: The member for the table.
    public static func method<each Input: BusType, each Output: BusType>(
        _ name: MemberName,
        _ kind: MethodKind = .change,
        in inputs: [String] = [],
        out outputs: [String] = [],
        memory: Int? = nil,
        now: (@Sendable (Call, repeat each Input) -> WireWriter?)? = nil,
        _ handler:
            @escaping @Sendable (Call, repeat each Input) async throws -> (repeat each Output)
    ) -> Member {
        var writeNow: Method.Now?
        if let now {
            precondition(kind == .query, "only a query can be answered without its body")
            writeNow = { call, arguments in
                var reader = arguments
                do throws(BusError) {
                    let input = (repeat try reader.argument((each Input).self))
                    return now(call, repeat each input)
                } catch {
                    return nil
                }
            }
        }
        let method = Method(
            kind: kind,
            inputs: Argument.list(inputs, repeat (each Input).self),
            outputs: Argument.list(outputs, repeat (each Output).self),
            memory: memory,
            now: writeNow,
            body: .task { call, arguments in
                // At once, so that the calls of a client keep their order.
                var reader = arguments
                let input = (repeat try reader.argument((each Input).self))
                let output = try await handler(call, repeat each input)
                return WireWriter(repeat each output)
            }
        )
        return Member(name: name, content: .method(method))
    }

    /// Makes a method for calls by the thousand, none of which needs a task to wait for its answer.
    ///
    /// The handler runs on the connection's executor, in the order of arrival, and returns
    /// immediately. It must see that every call is answered, except those that it refuses by
    /// throwing.
    public static func method<each Input: BusType, Output: BusType>(
        _ name: MemberName,
        in inputs: [String],
        answering output: String,
        _ handler:
            @escaping @Sendable (Call, @escaping Answer<Output>, repeat each Input) throws -> Void
    ) -> Member {
        let method = Method(
            kind: .change,
            inputs: Argument.list(inputs, repeat (each Input).self),
            outputs: [Argument(name: output, type: Output.signature)],
            body: .answering { call, arguments, answer in
                var reader = arguments
                let input = (repeat try reader.argument((each Input).self))
                try handler(call, { answer($0.map { WireWriter($0) }) }, repeat each input)
            }
        )
        return Member(name: name, content: .method(method))
    }
}

extension Method {
    /// Returns the arguments of a call; compares their types first, so that no others are ever
    /// read.
    ///
    /// - Throws: `InvalidArgs`; `NoMemory`.
    func arguments(
        of message: OpaquePointer,
        for call: Call,
        within limits: CallLimits,
        libdbus: LibDBusCalls
    ) throws(BusError) -> WireReader {
        let expected = inputSignature
        guard let found = dbus_message_get_signature(message) else {
            throw .noMemory("dbus_message_get_signature")
        }
        guard strcmp(found, expected.rawValue) == 0 else {
            let names = inputs.map { "\($0.type) \($0.name)" }.joined(separator: ", ")
            throw .invalidArguments(
                "\(call.member) takes (\(names)) with the signature \"\(expected)\","
                    + " not \"\(String(cString: found))\"."
            )
        }
        var limits = limits
        limits.memory = memory ?? limits.memory
        return try WireReader(
            bodyOf: message,
            within: limits,
            takingDescriptors: expected.rawValue.utf8.contains(TypeCode.unixDescriptor.rawValue),
            libdbus: libdbus
        )
    }
}
