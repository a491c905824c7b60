// SPDX-License-Identifier: Apache-2.0

/// The changes to a task, validated and in normal form; nil leaves a value as it is.
///
/// `.some(nil)` removes a value that is optional.
package struct TaskEdit: Hashable, Sendable {
    /// A fresh link in place of one that expired.
    package var url: String?
    /// The folder, absolute, with links resolved.
    package var directory: String?
    package var fileName: String?
    package var checksum: Checksum??
    package var expectedSize: Int64??
    package var mirrors: [String]?
    package var headers: [HeaderField]?
    package var referrer: String??
    package var userAgent: String??
    package var cookies: String??
    package var connections: Int??
    /// Bytes a second; 0 for no limit.
    package var speedLimit: Int64?
    package var priority: Int32?
    package var whenDone: WhenDone??
    package var onExisting: OnExisting?
    /// Seconds; 0 for no limit.
    package var retryFor: Int64?

    package init() {}

    /// A value that can be edited, by its name in the contract.
    package enum Option: String, CaseIterable, Sendable {
        case url, directory, checksum, mirrors, headers, referrer, cookies, connections, priority
        case fileName = "filename"
        case expectedSize = "expected-size"
        case userAgent = "user-agent"
        case speedLimit = "speed-limit"
        case whenDone = "when-done"
        case onExisting = "on-existing"
        case retryFor = "retry-for"

        /// Whether the option can be changed in this state.
        ///
        /// Of a finished file only the place, the digest to verify it by and what is done with it
        /// can change, and the priority of its task. A cancelled task gets no fresh link before it
        /// is resumed.
        package func isAccepted(in state: TaskState.Kind) -> Bool {
            switch state {
            case .waiting, .downloading, .paused, .failed: true
            case .cancelled: self != .url
            case .completed:
                switch self {
                case .priority, .directory, .fileName, .checksum, .whenDone: true
                case .url, .expectedSize, .mirrors, .headers, .referrer, .userAgent,
                    .cookies, .connections, .speedLimit, .onExisting, .retryFor:
                    false
                }
            }
        }
    }

    /// The options that the edit changes.
    package var options: [Option] { Option.allCases.filter(has) }

    private func has(_ option: Option) -> Bool {
        switch option {
        case .url: url != nil
        case .directory: directory != nil
        case .fileName: fileName != nil
        case .checksum: checksum != nil
        case .expectedSize: expectedSize != nil
        case .mirrors: mirrors != nil
        case .headers: headers != nil
        case .referrer: referrer != nil
        case .userAgent: userAgent != nil
        case .cookies: cookies != nil
        case .connections: connections != nil
        case .speedLimit: speedLimit != nil
        case .priority: priority != nil
        case .whenDone: whenDone != nil
        case .onExisting: onExisting != nil
        case .retryFor: retryFor != nil
        }
    }
}
