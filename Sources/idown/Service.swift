// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// Runs a command's work with a client of the service, and turns its errors into words and codes.
enum Service {
    static func use(_ body: (ManagerClient) async throws -> Void) async throws {
        do {
            let client = try await ManagerClient.connect()
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
}
