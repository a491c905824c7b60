// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

/// Runs the command within the session to its end.
func idown(
    _ arguments: String...,
    in service: ServiceUnderTest,
    folder: String? = nil,
    input: String = ""
) async throws -> ChildProcess.Completed {
    try await idown(arguments, in: service, folder: folder, input: input)
}

func idown(
    _ arguments: [String],
    in service: ServiceUnderTest,
    folder: String? = nil,
    input: String = "",
    environment changes: [String: String] = [:]
) async throws -> ChildProcess.Completed {
    let program = try BuiltProgram("idown")
    let environment = service.environment.merging(changes) { $1 }
    let folder = folder ?? service.home.path
    return try await within("idown \(arguments.first ?? "")") {
        try await ChildProcess.run(
            program.path,
            arguments,
            environment: environment,
            workingDirectory: folder,
            input: input
        )
    }
}

/// What a program printed, as Python reads it.
func evaluate(_ expression: String, of json: String) async throws -> String {
    let read = try await ChildProcess.run(
        "/usr/bin/python3",
        ["-c", "import json, sys; x = json.load(sys.stdin); print(\(expression))"],
        input: json
    )
    try #require(read.succeeded, "\(read.standardError)\(json)")
    return read.standardOutput
}
