// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown doctor`: looks for what is wrong.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks for what is wrong, and says what to do about it.",
        discussion: """
            Looks at the session bus, the service, how it is started, the desktop's files, the \
            folders and the room in them, and the libraries in use. It ends with 1 where something is wrong. --report adds \
            what helps whoever is asked for help; it holds no URLs, no names of downloads and no \
            secrets.

            Examples:
              idown doctor
              idown doctor --report > report.txt
            """
    )

    @Flag(help: "Prints a report for whoever is asked for help.")
    var report = false

    @Flag(help: "Prints a JSON array.")
    var json = false

    @OptionGroup var color: ColorOption

    func run() async throws {
        var findings = await Diagnosis.ofService()
        findings += Diagnosis.ofInstallation(DesktopFolders())
        findings += Diagnosis.ofLibraries()
        if report { findings += Diagnosis.ofSystem() }
        if json {
            try Output.json(findings)
        } else {
            let style = report ? Style.plain : color.style(of: .output)
            try Output.data(lines: findings.flatMap { $0.lines(style: style) })
        }
        if findings.contains(where: { $0.grade == .wrong }) { throw ExitStatus.failed.exit }
    }
}
