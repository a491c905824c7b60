// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension ManagerError {
    /// What went wrong, in the user's language.
    ///
    /// The service's own message tells more than its code, but is English: in other languages the
    /// sentence for the code replaces it.
    package var text: String {
        // The English message of `noSuchTask` names an id, which a user of a list does not know.
        guard Wording.current.isEnglish, code != .noSuchTask else { return sentence }
        // The text of `requestFailed` begins with an ErrorCode, which is for programs.
        let start = failureCode.map { $0 + ": " } ?? ""
        let words =
            description.hasPrefix(start) ? description.dropFirst(start.count) : description[...]
        return FailureText.withoutEditCommand(String(words))
    }

    private var sentence: String {
        switch code {
        case .invalidURL: translated("This is not a link to a file.")
        case .unsupportedScheme: translated("idown does not download links of this kind.")
        case .invalidOption, .invalidArguments:
            translated("The service does not take one of the values.")
        case .invalidDestination: translated("Files cannot be saved in this folder.")
        case .fileExists: translated("A file with this name, or its .part file, already exists.")
        case .noSuchTask, .unknownObject: translated("This download is no longer in the list.")
        case .invalidState: translated("The download is in a state that does not allow this.")
        case .storeFailed: translated("Nothing was changed, because it could not be saved.")
        case .limitExceeded, .limitsExceeded:
            translated("This is more than the service takes at once.")
        case .disagreed: translated("The server does not answer idown as it answered the browser.")
        case .requestFailed: FailureText.sentence(of: failureCode ?? "")
        case .stopping: translated("The service is ending. Try again in a moment.")
        case .accessDenied: translated("The service does not allow this.")
        case .unknownInterface, .unknownMethod, .unknownProperty, .propertyReadOnly,
            .inconsistentMessage:
            translated("The service is of another version. Log out and in again.")
        case .serviceUnknown: translated("The download service is not installed.")
        case .noServer, .disconnected:
            translated("The session bus went away. Try again after the next login.")
        case .noReply: translated("The download service did not answer.")
        case nil where isUnreachable: translated("The download service cannot be started.")
        case .failed, nil: translated("The service met an error: {name}", ["name": shortName])
        }
    }
}
