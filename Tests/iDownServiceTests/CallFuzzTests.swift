// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing
import iDownBus
import iDownTesting

@testable import DBus
@testable import iDownService

/// What programs on the bus send, changed at random, through the decoder and every method of the
/// tables; the bus itself is left out.
///
/// The service is ending, and the caller is one of whom the bus knows nothing: so equal bytes have
/// equal consequences, and nothing leaves the test's folder.
@Suite struct CallFuzzTests {
    /// A method that clients may call, with its object, by its name.
    private struct Row: Sendable {
        let path: ObjectPath
        let interface: Interface
        let name: String
        let method: Method
    }

    private static func rows(of manager: ManagerService) -> [Row] {
        let object = ExportedObject.object([
            ManagerInterface.table(for: manager), ManagerInterface.settings(for: manager),
            ApplicationInterface.table(for: manager), ManagerInterface.objectManager(for: manager),
        ])
        let task = TaskInterface.subtree(for: manager).object
        // libdbus answers for Peer, and the connection's own objects for Introspectable.
        let others = ["org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Introspectable"]
        let taskPath = TaskPath(id: "7")?.objectPath ?? Contract.managerPath
        return [(Contract.managerPath, object), (taskPath, task)].flatMap { path, object in
            object.interfaces.filter { !others.contains($0.name.rawValue) }.flatMap { interface in
                interface.methods.sorted { $0.key < $1.key }.map { name, method in
                    Row(path: path, interface: interface, name: name, method: method)
                }
            }
        }
    }

    /// Calls a method as the connection does, and encodes what it answers.
    private static func call(
        _ row: Row,
        _ arguments: WireReader,
        over connection: Connection,
        _ input: [UInt8]
    ) throws {
        let call = Call(
            connection: connection,
            sender: ":1.7",
            path: row.path,
            interface: row.interface.name,
            member: MemberName(checked: row.name),
            wantsReply: true
        )
        let outcome = Mutex<Result<WireWriter, any Error>?>(nil)
        let isOver = DispatchSemaphore(value: 0)
        let answer: Answer<WireWriter> = { result in
            outcome.withLock { $0 = result }
            isOver.signal()
        }
        switch row.method.body {
        case .answering(let body):
            do { try body(call, arguments, answer) } catch { answer(.failure(error)) }
        case .task(let body):
            Task {
                do {
                    answer(.success(try await body(call, arguments)))
                } catch {
                    answer(.failure(error))
                }
            }
        }
        guard isOver.wait(timeout: .now() + .seconds(30)) == .success else {
            throw Fuzzer.Finding("\(row.name) does not come to an end", input)
        }
        switch outcome.withLock({ $0 }) {
        case .success(let answer): _ = try RawMessage(sending: answer)
        case .failure(let error):
            let reply = row.interface.reply(to: call, thrown: error)
            _ = try RawMessage(sending: WireWriter(reply.message))
        case nil: throw Fuzzer.Finding("\(row.name) has no answer", input)
        }
    }

    /// Tries one input after the other on all rows, on a thread that may wait for their answers.
    private func run(
        _ target: String,
        _ body: @escaping @Sendable ([UInt8], [Row], Connection) throws -> Void
    ) async throws {
        let fuzzer = Fuzzer(target, test: #filePath)
        #expect(fuzzer.hasCorpus)
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let urls = (1...7).map { "http://127.0.0.1:9/\($0)" }
            #expect(try await scene.client.addURLs(urls, options: options).last == "7")
            await scene.coordinator.stop()
            let (rows, connection) = (Self.rows(of: scene.manager), scene.proxy.connection)
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "idown.fuzz").async {
                    let result = Result {
                        try fuzzer.run { bytes in try body(bytes, rows, connection) }
                    }
                    continuation.resume(with: result)
                }
            }
        }
    }

    @Test func `a body of any signature, as it comes over the wire`() async throws {
        try await run("bus") { bytes, all, connection in
            // The first line is a method or a signature, the rest the body.
            let line = bytes.prefix { $0 != 0x0A }
            let body = bytes.dropFirst(line.count + 1)
            let text = String(decoding: line, as: UTF8.self)
            let rows = all.filter { $0.name == text }
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

    @Test func `a call of any method with arguments of its types`() async throws {
        try await run("call") { bytes, rows, connection in
            var reader = ValueReader(bytes)
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
