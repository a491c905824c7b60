// SPDX-License-Identifier: Apache-2.0

/// The row of a method: what it takes and gives, and what runs.
struct Method: Sendable {
    let inputs: [Argument]
    let outputs: [Argument]
    let inputSignature: Signature
    let body: Body

    enum Body: Sendable {
        /// Runs in a task of its own, whose end is the answer.
        case task(@Sendable (Call, [Value]) async throws -> [Value])
        /// Returns at once; the answer comes when it comes.
        case answering(@Sendable (Call, [Value], @escaping Answer<[Value]>) -> Void)
    }

    init(inputs: [Argument], outputs: [Argument], body: Body) {
        self.inputs = inputs
        self.outputs = outputs
        inputSignature = inputs.reduce(.empty) { $0 + $1.type }
        self.body = body
    }
}

/// Answers one call, once, from any thread; what comes after the connection's end is dropped.
public typealias Answer<Output> = @Sendable (Result<Output, BusError>) -> Void

extension Member {
    /// A method; its signatures follow from the handler's types.
    ///
    /// The handler starts on the connection's executor, in the order of arrival. What it throws
    /// becomes the reply: a ``BusError`` as it is, anything else as
    /// `org.freedesktop.DBus.Error.Failed`.
    ///
    /// The names of arguments and results are for introspection; there must be as many as the handler
    /// takes and gives, else this traps.
    public static func method<each Input: BusType, each Output: BusType>(
        _ name: MemberName,
        in inputs: [String] = [],
        out outputs: [String] = [],
        _ handler:
            @escaping @Sendable (Call, repeat each Input) async throws -> (repeat each Output)
    ) -> Member {
        var inputTypes: [Signature] = []
        repeat inputTypes.append((each Input).signature)
        var outputTypes: [Signature] = []
        repeat outputTypes.append((each Output).signature)
        let method = Method(
            inputs: Argument.list(inputs, inputTypes, of: name),
            outputs: Argument.list(outputs, outputTypes, of: name),
            body: .task { call, values in
                var reader = ArgumentReader(values)
                let output = try await handler(call, repeat try reader.next((each Input).self))
                var results: [Value] = []
                repeat results.append((each output).busValue)
                return results
            }
        )
        return Member(name: name, content: .method(method))
    }

    /// A method that calls come to by the thousand: none has a task that waits for its answer.
    ///
    /// The handler runs on the connection's executor, in the order of arrival, and returns at once;
    /// it sees to it that every call is answered.
    public static func method<each Input: BusType, Output: BusType>(
        _ name: MemberName,
        in inputs: [String],
        answering output: String,
        _ handler: @escaping @Sendable (Call, @escaping Answer<Output>, repeat each Input) -> Void
    ) -> Member {
        var inputTypes: [Signature] = []
        repeat inputTypes.append((each Input).signature)
        let method = Method(
            inputs: Argument.list(inputs, inputTypes, of: name),
            outputs: [Argument(name: output, type: Output.signature)],
            body: .answering { call, values, answer in
                do throws(BusError) {
                    var reader = ArgumentReader(values)
                    let input = (repeat try reader.next((each Input).self))
                    handler(call, { answer($0.map { [$0.busValue] }) }, repeat each input)
                } catch {
                    answer(.failure(error))
                }
            }
        )
        return Member(name: name, content: .method(method))
    }
}

/// Hands out the arguments of a call one by one, as Swift types.
struct ArgumentReader {
    private let values: [Value]
    private var position = 0

    init(_ values: [Value]) {
        self.values = values
    }

    /// The next argument.
    ///
    /// - Throws: `InvalidArgs` with the argument's place, counted from 1.
    mutating func next<Argument: BusType>(
        _ type: Argument.Type
    ) throws(BusError) -> Argument {
        guard position < values.count else {
            throw .invalidArguments(
                "Argument \(position + 1) of type \(Argument.signature) is missing."
            )
        }
        defer { position += 1 }
        do throws(DecodingFailure) {
            return try Argument(busValue: values[position])
        } catch {
            throw .invalidArguments("Argument \(position + 1): \(error).")
        }
    }
}
