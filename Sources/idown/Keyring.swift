// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets
import iDownBus

/// Runs a command's work with the desktop's keyring, and turns its errors into words and codes.
enum Keyring {
    /// Long enough for a keyring that is started by the call.
    private static let patience: Duration = .seconds(25)

    static func use<Value: Sendable>(
        _ body: (KeptLogins) async throws(BusError) -> Value
    ) async throws -> Value {
        do throws(BusError) {
            let connection = try await Connection.open(.session)
            let keyring = SecretService(connection, startsService: true, patience: patience)
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
