// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// `idown config edit`: the settings file in an editor.
///
/// The editor gets a copy, which takes the place of the file only if all of it is valid.
enum SettingsEditor {
    /// Edits the file until it is valid or the user gives up.
    ///
    /// - Throws: `ExitCode` after telling why the settings are unchanged.
    static func edit(_ path: String) throws {
        do {
            let before = try TextFile.read(path)
            let folder = try temporaryFolder()
            let copy = folder + "/settings.json"
            /// An editor that leaves nothing has given up.
            func isChanged(_ text: String?) -> Bool {
                guard let text, !text.allSatisfy(\.isWhitespace) else { return false }
                return text != before ?? "{\n}\n"
            }
            // What the user has typed stays, except where it is in place or the user gives it up.
            var isKept = false
            defer {
                if isKept {
                    Output.complain("your text is in \(copy)")
                } else {
                    unlink(copy)
                    rmdir(folder)
                }
            }
            try TextFile.replace(copy, with: before ?? "{\n}\n", mode: 0o600)
            while true {
                isKept = true
                do {
                    try openEditor(on: copy)
                } catch {
                    isKept = isChanged(try? TextFile.read(copy))
                    throw error
                }
                let after = try TextFile.read(copy) ?? ""
                isKept = isChanged(after)
                guard isKept else { return Output.talk("The settings are unchanged.") }
                let mistakes = try Self.mistakes(in: after)
                if mistakes.isEmpty {
                    guard try TextFile.read(path) == before else {
                        Output.complain(
                            "another program changed the settings meanwhile, and they stay so"
                        )
                        throw ExitStatus.failed.exit
                    }
                    try TextFile.replace(path, with: after, mode: 0o600)
                    isKept = false
                    return
                }
                for mistake in mistakes { Output.complain(mistake) }
                isKept = !Terminal.input.isTerminal
                try askToEditAgain()
            }
        } catch let failure as TextFile.Failure {
            Output.complain(failure.description)
            throw ExitStatus.fileFailure.exit
        }
    }

    /// Makes a folder that only this user can enter: mkdtemp(3).
    private static func temporaryFolder() throws(TextFile.Failure) -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        let template = (parent.hasPrefix("/") ? parent : "/tmp") + "/idown-XXXXXX"
        var path = Array(template.utf8CString)
        guard let folder = mkdtemp(&path) else { throw TextFile.Failure(template) }
        return String(cString: folder)
    }

    /// Asks whether to edit again, and ends the command after a no or without a terminal.
    private static func askToEditAgain() throws {
        if Terminal.input.isTerminal,
            try Prompt.agrees("Edit again? [Y/n] ", usual: true)
        {
            return
        }
        Output.talk("The settings are unchanged.")
        throw ExitStatus.refusedOption.exit
    }

    private static func mistakes(in text: String) throws -> [String] {
        guard let answer = ServiceProgram.ask("--check-settings", input: text) else {
            Output.complain("idownd cannot check the settings: they are unchanged")
            throw ExitStatus.failed.exit
        }
        return answer.split(separator: "\n").map(String.init)
    }

    private static func openEditor(on path: String) throws {
        guard let editor else {
            Output.complain("there is no editor; set EDITOR, for example: EDITOR=nano")
            throw ExitStatus.failed.exit
        }
        // Run by a shell, because the variables may hold arguments: environ(7).
        let words = ["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path]
        guard ServiceProgram.run(words) == 0 else {
            Output.complain(
                "the editor failed (\(CellText(editor))): the settings are unchanged"
            )
            throw ExitStatus.failed.exit
        }
    }

    private static var editor: String? {
        for variable in ["VISUAL", "EDITOR"] {
            if let value = getenv(variable).map({ String(cString: $0) }), !value.isEmpty {
                return value
            }
        }
        return ["sensible-editor", "editor", "nano", "vi"].lazy
            .compactMap { ProgramPath.find($0) }.first
    }
}
