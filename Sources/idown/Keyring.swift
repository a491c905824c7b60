// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets

/// Runs a command's work with the desktop's keyring, and turns its errors into messages and codes.
enum Keyring {
    /// The time to wait for an answer; a call may first have to start the keyring.
    private static let timeout: Duration = .seconds(25)

    /// Connects to the keyring, runs the work and disconnects.
    ///
    /// - Throws: `ExitCode` after telling an error of the keyring.
    static func use<Value: Sendable>(
        _ body: (KeptLogins) async throws(BusError) -> Value
    ) async throws -> Value {
        do throws(BusError) {
            let connection = try await Connection.open(.session)
            let keyring = SecretService(connection, startsService: true, patience: timeout)
            let result: Result<Value, BusError>
            do throws(BusError) {
                result = .success(try await body(KeptLogins(keyring)))
            } catch {
                result = .failure(error)
            }
            await connection.close()
            return try result.get()
        } catch {
            Output.complain(
                "the desktop's keyring (Secret Service) does not answer: \(error.message)"
            )
            throw ExitStatus.unreachable.exit
        }
    }
}
