// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownTesting

@testable import DBus
@testable import iDownBus

/// What programs on the bus send, changed at random, through the decoder and every method of the
/// tables; the bus itself is left out.
@Suite struct FuzzTests {
    /// All methods that clients may call, with their object, by their names.
    private struct Tables: Sendable {
        let manager = FakeManager()
        let methods: [(path: ObjectPath, interface: InterfaceName, name: String, method: Method)]

        init() {
            let handler = manager
            let object = ExportedObject.object([
                ManagerInterface.table(for: handler), ApplicationInterface.table(for: handler),
                ManagerInterface.objectManager(for: handler),
            ])
            let task = TaskInterface.subtree(for: handler).object
            // libdbus answers for Peer, and the connection's own objects for Introspectable.
            let others = ["org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Introspectable"]
            let taskPath = TaskPath(id: "7")?.objectPath ?? Contract.managerPath
            methods = [(Contract.managerPath, object), (taskPath, task)]
                .flatMap { path, object in
                    object.interfaces.filter { !others.contains($0.name.rawValue) }
                        .flatMap { interface in
                            interface.methods.sorted { $0.key < $1.key }.map { name, method in
                                (path, interface.name, name, method)
                            }
                        }
                }
        }
    }

    /// Calls a method as the connection does, and encodes what it answers.
    ///
    /// The fake manager never waits, so that the handler is through when it has been started.
    private static func call(
        _ row: (path: ObjectPath, interface: InterfaceName, name: String, method: Method),
        _ arguments: WireReader,
        over connection: Connection,
        _ input: [UInt8]
    ) throws {
        let call = Call(
            connection: connection,
            sender: ":1.7",
            path: row.path,
            interface: row.interface,
            member: MemberName(checked: row.name),
            wantsReply: true
        )
        let outcome = Mutex<Result<WireWriter, any Error>?>(nil)
        switch row.method.body {
        case .answering(let body):
            do {
                try body(call, arguments) { answer in outcome.withLock { $0 = answer } }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        case .task(let body):
            withExtendedLifetime(
                Task.immediate {
                    do {
                        let answer = try await body(call, arguments)
                        outcome.withLock { $0 = .success(answer) }
                    } catch {
                        outcome.withLock { $0 = .failure(error) }
                    }
                }
            ) {}
        }
        switch outcome.withLock({ $0 }) {
        case .success(let answer): _ = try RawMessage(sending: answer)
        case .failure(let error as BusError):
            _ = try RawMessage(sending: WireWriter(error.message))
        case .failure(let error): throw Fuzzer.Finding("\(row.name) throws \(error)", input)
        case nil: throw Fuzzer.Finding("\(row.name) does not come to an end", input)
        }
    }

    private func withConnection(_ body: (Connection) throws -> Void) async throws {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            let outcome = Result { try body(connection) }
            await connection.close()
            try outcome.get()
        }
    }

    @Test func `a body of any signature, as it comes over the wire`() async throws {
        let fuzzer = Fuzzer("bus", test: #filePath)
        #expect(fuzzer.hasCorpus)
        let tables = Tables()
        try await withConnection { connection in
            try fuzzer.run { bytes in
                // Equal bytes are to have equal consequences.
                tables.manager.forget(showing: [.sample])
                // The first line is a method or a signature, the rest the body.
                let line = bytes.prefix { $0 != 0x0A }
                let body = bytes.dropFirst(line.count + 1)
                let text = String(decoding: line, as: UTF8.self)
                let rows = tables.methods.filter { $0.name == text }
                let signature = rows.first?.method.inputSignature.rawValue ?? text
                guard let message = RawMessage(signature: signature, body: Array(body)),
                    let values = try? message.arguments()
                else { return }
                // What was read can be sent, and is the same then.
                guard try message.isEqual(to: RawMessage(sending: values)) else {
                    throw Fuzzer.Finding("\(values) is not what was sent", bytes)
                }
                if let list = values.first, values.count == 1, list.signature == "aa{sv}" {
                    var reader = try message.reader()
                    // A NaN is not equal to itself.
                    let tasks = "\(try [TaskProperties](from: &reader))"
                    guard tasks == "\(try [TaskProperties](busValue: list))" else {
                        throw Fuzzer.Finding("\(tasks) is not what was sent", bytes)
                    }
                }
                for row in rows where row.method.inputSignature.rawValue == signature {
                    try Self.call(row, message.reader(), over: connection, bytes)
                }
            }
        }
    }

    @Test func `a call of any method with arguments of its types`() async throws {
        let fuzzer = Fuzzer("call", test: #filePath)
        #expect(fuzzer.hasCorpus)
        let tables = Tables()
        try await withConnection { connection in
            try fuzzer.run { bytes in
                // Equal bytes are to have equal consequences.
                tables.manager.forget(showing: [.sample])
                var reader = ValueReader(bytes)
                let rows = tables.methods
                let row = rows[reader.number(below: rows.count)]
                let signature = row.method.inputSignature.rawValue
                let values = reader.values(of: signature)
                // A string with U+0000 in it cannot be sent, by nobody.
                guard let message = try? RawMessage(sending: values) else { return }
                let received = try message.arguments()
                guard try message.isEqual(to: RawMessage(sending: received)) else {
                    throw Fuzzer.Finding("\(received) is not what was sent", bytes)
                }
                try Self.call(row, message.reader(), over: connection, bytes)
            }
        }
    }
}
