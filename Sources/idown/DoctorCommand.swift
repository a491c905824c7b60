// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown doctor`: checks the installation, and tells what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks the installation, and tells what to do.",
        discussion: """
            Checks the session bus, the service, how the service is started, the settings file, the \
            desktop's files, the folders and their free space, and the libraries. Prints one line \
            for all checks that passed, then every problem with the command that helps. The exit \
            code is 1 if something does not work.

            --report prints every check, and the system's versions, for a bug report. A report \
            contains no URLs, no names of downloads and no secrets.

            Examples:
              idown doctor
              idown doctor --report > report.txt
            """
    )

    @Flag(help: "Print every check and the system's versions, for a bug report.")
    var report = false

    @Flag(help: "Print every check as a JSON array.")
    var json = false

    @OptionGroup var color: ColorOption

    func run() async throws {
        var findings = await Diagnosis.ofService()
        findings += Diagnosis.taken([
            ("settings", Diagnosis.ofSettings),
            ("own folders", { Diagnosis.ofInstallation(DesktopFolders()) }),
            ("idownd", Diagnosis.ofLibraries),
        ])
        if report { findings += Diagnosis.ofSystem() }
        if json {
            try Output.json(findings)
        } else if report {
            try Output.data(lines: findings.flatMap { $0.lines(style: .plain) })
        } else {
            let lines = Finding.summary(
                of: findings,
                telling: ["service", "download folder", "room"],
                style: color.style(of: .output)
            )
            try Output.data(lines: lines)
        }
        if findings.contains(where: { $0.grade == .wrong }) { throw ExitStatus.failed.exit }
    }
}
