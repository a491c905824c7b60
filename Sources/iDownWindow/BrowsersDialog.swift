// SPDX-License-Identifier: Apache-2.0

import CGtk
import Glibc
import iDownView

/// Shows what each browser still needs to hand downloads over, and installs what it can.
///
/// The command `idown browser` does both.
final class BrowsersDialog {
    private let dialog: Dialog
    private let report = Object.label("", ["wrap": true, "selectable": true])

    init(over window: Object) {
        dialog = Dialog(
            over: window,
            title: translated("Downloads From Browsers"),
            button: translated("Set Up"),
            cancel: translated("Close"),
            [
                .label(
                    translated(
                        "With the package idown-browser, downloads of Chromium and Firefox come here."
                    ),
                    ["wrap": true]
                ),
                .label(translated("Your Browsers"), classes: ["heading"]), report,
            ]
        )
        dialog.accepted = {
            self.run(["enable"]) { said, hasFailed in
                self.dialog.complain(hasFailed ? said : "")
                self.look()
            }
        }
        look()
    }

    private func look() {
        run(["status", "--json"]) { said, _ in
            let reports = BrowserReport.all(in: said)
            self.report.set("label", .text(reports.map(BrowserReport.text) ?? said))
        }
    }

    func present() { dialog.present() }

    /// Runs `idown browser` with some arguments; calls `done` with its output, and whether it has
    /// failed.
    private func run(_ words: [String], _ done: @escaping (String, Bool) -> Void) {
        dialog.allow(false)
        Subprocess.run([Self.program, "browser"] + words) { text, hasFailed in
            guard !self.dialog.isClosed else { return }
            self.dialog.allow(text != nil)
            guard let text else {
                let missing = translated("The command idown was not found.")
                return self.report.set("label", .text(missing))
            }
            done(text, hasFailed)
        }
    }

    /// The path of `idown` beside this program; if it is not there, `idown`, to be found in `PATH`.
    private static var program: String {
        guard let folder = Catalogue.programFolder else { return "idown" }
        return access(folder + "/idown", X_OK) == 0 ? folder + "/idown" : "idown"
    }
}

/// Runs other programs: GSubprocess.
private enum Subprocess {
    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - body: Called with the program's output, nil if it could not be started, and with whether
    ///     it has failed.
    static func run(_ words: [String], _ body: @escaping (String?, Bool) -> Void) {
        var arguments = words.map { UnsafePointer(strdup($0)) } + [nil]
        defer { for word in arguments { free(UnsafeMutablePointer(mutating: word)) } }
        // A warning on standard error would make the JSON invalid.
        let errors =
            words.contains("--json")
            ? G_SUBPROCESS_FLAGS_STDERR_SILENCE : G_SUBPROCESS_FLAGS_STDERR_MERGE
        let flags = G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue | errors.rawValue
        guard let process = g_subprocess_newv(&arguments, GSubprocessFlags(rawValue: flags), nil)
        else { return body(nil, true) }
        g_subprocess_communicate_utf8_async(
            process,
            nil,
            nil,
            { source, result, data in
                guard let source, let data else { return }
                let waiter = Unmanaged<Handler<(String?, Bool), Void>>.fromOpaque(data)
                    .takeRetainedValue()
                var text: UnsafeMutablePointer<CChar>?
                g_subprocess_communicate_utf8_finish(OpaquePointer(source), result, &text, nil, nil)
                defer { g_free(text) }
                let hasFailed = g_subprocess_get_successful(OpaquePointer(source)) == 0
                waiter.body((text.map { String(cString: $0) } ?? "", hasFailed))
            },
            Unmanaged.passRetained(Handler<(String?, Bool), Void> { body($0.0, $0.1) }).toOpaque()
        )
        g_object_unref(UnsafeMutableRawPointer(process))
    }
}
