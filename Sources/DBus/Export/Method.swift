// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

/// What a call of a method does.
public enum MethodKind: Sendable {
    /// Something changes.
    case change
    /// The caller is told something, and nothing changes: a call that wants no reply is not carried
    /// out.
    case query
    /// A query whose answer comes when something has happened: it does not count among the calls
    /// that ``CallLimits`` limit, and the method has limits of its own.
    case wait
    /// A change that may take hours: it does not count either, and the method has limits of its own.
    case work

    /// Whether something changes, so that a call is carried out although nobody waits for an answer.
    var isChange: Bool { self == .change || self == .work }
    /// Whether its calls count among those that are limited.
    var counts: Bool { self == .change || self == .query }
}

/// The row of a method: what it takes and gives, and what runs.
struct Method: Sendable {
    let kind: MethodKind
    let inputs: [Argument]
    let outputs: [Argument]
    let inputSignature: Signature
    /// In place of ``CallLimits/memory``.
    let memory: Int?
    /// Gives the results where they are at hand, without a task; nil leaves the call to `body`.
    let now: Now?
    let body: Body

    typealias Now = @Sendable (Call, WireReader) -> WireWriter?

    enum Body: Sendable {
        /// Runs in a task of its own, whose end is the answer.
        case task(@Sendable (Call, WireReader) async throws -> WireWriter)
        /// Returns at once; the answer comes when it comes, unless the call is refused at once.
        case answering(@Sendable (Call, WireReader, @escaping Answer<WireWriter>) throws -> Void)
    }

    init(
        _ kind: MethodKind = .change,
        inputs: [Argument],
        outputs: [Argument],
        memory: Int? = nil,
        now: Now? = nil,
        body: Body
    ) {
        precondition(now == nil || kind == .query, "only a query can be answered without its body")
        self.kind = kind
        self.inputs = inputs
        self.outputs = outputs
        inputSignature = inputs.reduce(.empty) { $0 + $1.type }
        self.memory = memory
        self.now = now
        self.body = body
    }
}

/// Answers one call, once, from any thread; what comes after the connection's end is dropped.
public typealias Answer<Output> = @Sendable (Result<Output, any Error>) -> Void

extension Member {
    /// A method; its signatures follow from the handler's types.
    ///
    /// The handler starts on the connection's executor, in the order of arrival of its sender's calls
    /// (``CallLimits``). What it throws becomes the reply: a ``BusError`` as it is, anything else as
    /// the ``Interface`` says, or as `org.freedesktop.DBus.Error.Failed`.
    ///
    /// The names of arguments and results are for introspection; there must be as many as the handler
    /// takes and gives, else this traps.
    ///
    /// - Parameters:
    ///   - name: The method.
    ///   - kind: What a call of it does.
    ///   - inputs: The names of the arguments.
    ///   - outputs: The names of the results.
    ///   - memory: What the arguments may take in place of ``CallLimits/memory``.
    ///   - now: For a query that is asked often: gives the written results where they are at hand. It
    ///     runs on the connection's executor instead of the handler, and spares the call its task;
    ///     nil has the handler run.
    ///   - handler: What runs.
    /// - Returns: The row.
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
        var inputTypes: [Signature] = []
        repeat inputTypes.append((each Input).signature)
        var outputTypes: [Signature] = []
        repeat outputTypes.append((each Output).signature)
        var writeNow: Method.Now?
        if let now {
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
            kind,
            inputs: Argument.list(inputs, inputTypes, of: name),
            outputs: Argument.list(outputs, outputTypes, of: name),
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

    /// A method that calls come to by the thousand: none has a task that waits for its answer.
    ///
    /// The handler runs on the connection's executor, in the order of arrival, and returns at once;
    /// it sees to it that every call is answered, but for those that it refuses by throwing.
    public static func method<each Input: BusType, Output: BusType>(
        _ name: MemberName,
        in inputs: [String],
        answering output: String,
        _ handler:
            @escaping @Sendable (Call, @escaping Answer<Output>, repeat each Input) throws -> Void
    ) -> Member {
        var inputTypes: [Signature] = []
        repeat inputTypes.append((each Input).signature)
        let method = Method(
            inputs: Argument.list(inputs, inputTypes, of: name),
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
    /// The arguments of a call; their types are compared first, so that nothing else is ever read.
    ///
    /// - Throws: `InvalidArgs`; the error of the limits.
    func arguments(
        of message: OpaquePointer,
        for call: Call,
        within limits: CallLimits,
        border: Border
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
            border: border
        )
    }

    /// Runs a handler, and gives what it throws the form of an error reply.
    nonisolated(nonsending) static func run(
        _ body: @Sendable (Call, WireReader) async throws -> WireWriter,
        _ call: Call,
        _ arguments: WireReader
    ) async -> Result<WireWriter, BusError> {
        do {
            return .success(try await body(call, arguments))
        } catch {
            return .failure(BusError(thrown: error))
        }
    }

    /// The same method, with what its handler throws put into the words of its interface.
    func wording(_ errors: @escaping Interface.Wording) -> Method {
        let body: Body =
            switch body {
            case .task(let body): .task(Interface.wording(errors, body))
            case .answering(let body):
                .answering { call, arguments, answer in
                    do {
                        try body(call, arguments) { result in
                            answer(result.mapError { errors($0, call) })
                        }
                    } catch {
                        throw errors(error, call)
                    }
                }
            }
        return Method(
            kind,
            inputs: inputs,
            outputs: outputs,
            memory: memory,
            now: now,
            body: body
        )
    }
}
