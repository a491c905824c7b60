// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import Glibc
import iDownTesting

/// `idown` as a browser starts it: a native host with pipes for its messages.
final class NativeHost: Sendable {
    /// What a browser of Chromium's family names.
    static let origin = "chrome-extension://dofnlljjpebfojmpiecjbnkaemhcdfpm/"

    let process: ChildProcess
    private let input: Int32
    private let output: Int32

    private init(process: ChildProcess, input: Int32, output: Int32) {
        self.process = process
        self.input = input
        self.output = output
    }

    deinit {
        close(input)
        close(output)
    }

    /// Starts the host in a folder of its own, which takes its pipes.
    static func start(
        _ arguments: [String] = [NativeHost.origin],
        in folder: String,
        environment: [String: String]
    ) async throws -> NativeHost {
        let program = try BuiltProgram("idown")
        let ends = ["in", "out"].map { name -> Int32 in
            let path = "\(folder)/host.\(name)"
            unlink(path)
            mkfifo(path, 0o600)
            return open(path, O_RDWR | O_CLOEXEC)
        }
        let process = try await ChildProcess.start(
            "/bin/bash",
            ["-c", #"exec "$@" <host.in >host.out"#, "bash", program.path] + arguments,
            environment: environment,
            workingDirectory: folder
        )
        return NativeHost(process: process, input: ends[0], output: ends[1])
    }

    /// Sends a message; without a length the message's own.
    func send(_ message: String, length: Int? = nil) {
        let bytes = Array(message.utf8)
        let header = withUnsafeBytes(of: UInt32(length ?? bytes.count)) { Array($0) }
        _ = (header + bytes).withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    /// Sends a request; ``version`` is added.
    func ask(_ id: Int, _ action: String, _ keys: String = "") {
        let rest = keys.isEmpty ? "" : ",\(keys)"
        send(#"{"version":1,"id":\#(id),"do":"\#(action)"\#(rest)}"#)
    }

    /// Returns the next message of the host.
    func answer() async throws -> String {
        let output = output
        return try await within("an answer of the native host") {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let header = Self.read(4, from: output)
                    let count = header.enumerated().reduce(0) { $0 | Int($1.1) << ($1.0 * 8) }
                    let message = Self.read(count, from: output)
                    continuation.resume(returning: String(decoding: message, as: UTF8.self))
                }
            }
        }
    }

    private static func read(_ count: Int, from file: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            let number = Glibc.read(file, &piece, piece.count)
            guard number > 0 else { break }
            bytes += piece.prefix(number)
        }
        return bytes
    }

    /// Ends the host's input, as a browser does.
    func endInput() {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(nothing, input)
        close(nothing)
    }
}

/// Runs `body` with a native host, and ends it afterwards.
func withNativeHost(
    _ arguments: [String] = [NativeHost.origin],
    in service: ServiceUnderTest,
    _ body: (NativeHost) async throws -> Void
) async throws {
    let host = try await NativeHost.start(
        arguments,
        in: service.home.path,
        environment: service.environment
    )
    do { try await body(host) } catch {
        host.process.send(SIGKILL)
        await host.process.waitForExit()
        throw error
    }
    host.process.send(SIGKILL)
    await host.process.waitForExit()
}
