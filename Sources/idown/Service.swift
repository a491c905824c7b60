// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus

/// Runs a command's work with a client of the service, and turns its errors into words and codes.
enum Service {
    static func use(_ body: (ManagerClient) async throws -> Void) async throws {
        do {
            let client = try await ManagerClient.connect(patience: patience)
            do {
                try await body(client)
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        } catch let error as ManagerError {
            Output.complain(error.description)
            throw ExitStatus(error).exit
        }
    }

    /// How long to wait for an answer: IDOWN_TIMEOUT in seconds, or what is usual.
    static var patience: Duration {
        guard let text = getenv("IDOWN_TIMEOUT"), let seconds = UInt32(String(cString: text)),
            seconds > 0
        else { return ManagerClient.patience }
        return .seconds(seconds)
    }
}
