// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The exit codes of every command: part of the interface, and never renumbered.
enum ExitStatus: Int32, CaseIterable {
    /// Success.
    case done = 0
    /// An error without a code of its own.
    case failed = 1
    case noSuchTask = 3
    case invalidState = 4
    case refusedURL = 5
    case refusedOption = 6
    case serviceFailed = 7
    case networkFailure = 10
    case serverFailure = 11
    case fileFailure = 12
    case integrityFailure = 13
    case abandoned = 15
    /// ArgumentParser's own, EX_USAGE of sysexits.h.
    case usage = 64
    /// EX_UNAVAILABLE of sysexits.h.
    case unreachable = 69
    /// EX_IOERR of sysexits.h.
    case outputFailed = 74
    /// 128 + SIGINT, as a shell counts it.
    case interrupted = 130
    /// 128 + SIGPIPE, as a shell counts it.
    case closedPipe = 141

    /// What the code means, for the help.
    private var meaning: String {
        switch self {
        case .done: "success"
        case .failed: "another error"
        case .noSuchTask: "no download has this ID"
        case .invalidState: "the state of a download does not allow this"
        case .refusedURL: "the URL is not valid, or its scheme is not supported"
        case .refusedOption: "an option, a folder or a file name was refused"
        case .serviceFailed: "the service could not carry this out or record it"
        case .networkFailure: "the download failed: network"
        case .serverFailure: "the download failed: server"
        case .fileFailure:
            "the download failed, or its file stays in place: file or folder; or a file that was named"
        case .integrityFailure: "the download failed: wrong content"
        case .abandoned: "the download was cancelled or removed"
        case .usage: "wrong usage"
        case .unreachable: "the service does not run, or cannot be reached or started"
        case .outputFailed: "the output could not be written"
        case .interrupted: "interrupted by Ctrl-C; the download goes on"
        case .closedPipe: "the reader of the output has ended"
        }
    }

    static let heading = "Exit codes:"

    /// All codes, for the help.
    static var documentation: String {
        let lines = allCases.map { status in
            "\(CellText("\(status.rawValue)").paddedLeft(to: 5))  \(status.meaning)"
        }
        return heading + "\n" + lines.joined(separator: "\n")
    }
}

extension ExitStatus {
    /// The code for an error of the service or of the bus.
    init(_ error: ManagerError) {
        self =
            switch error.code {
            case .noSuchTask: .noSuchTask
            case .invalidState: .invalidState
            case .invalidURL, .unsupportedScheme: .refusedURL
            case .invalidOption, .invalidDestination, .fileExists, .invalidArguments:
                .refusedOption
            case .storeFailed, .limitExceeded, .limitsExceeded, .stopping: .serviceFailed
            case .accessDenied, .unknownObject, .unknownInterface, .unknownMethod,
                .unknownProperty, .propertyReadOnly, .failed, .inconsistentMessage, .disagreed:
                .failed
            case .requestFailed: ExitStatus(errorCode: error.failureCode ?? "")
            case .serviceUnknown, .noServer, .noReply, .disconnected: .unreachable
            case nil: error.isUnreachable ? .unreachable : .failed
            }
    }

    /// The code for the ErrorCode of a failed task; a code that this version does not
    /// know counts as its group.
    init(errorCode: String) {
        self =
            switch FailureGroup(errorCode: errorCode) {
            case .network: .networkFailure
            case .server: .serverFailure
            case .file: .fileFailure
            case .integrity: .integrityFailure
            case nil: .failed
            }
    }

    /// The error that ends the command with this code and prints nothing.
    var exit: ExitCode { ExitCode(rawValue) }
}
