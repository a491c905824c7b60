// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Executors
import Glibc
import Logging
import ServiceLifecycle
import UnixSignals
import iDownBus
import iDownData
import iDownView

@main
enum Main {
    static func main() {
        StandardStreams.fill()
        DefaultThreads.install()
        Task {
            let status = await run()
            StandardErrorLog.writer.finish(within: .milliseconds(500))
            exit(status)
        }
        dispatchMain()
    }

    /// - Returns: the exit status.
    private static func run() async -> Int32 {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.count == 1, let helper = arguments.first.flatMap(HelperMode.init) {
            signal(SIGPIPE, SIG_IGN)
            return await helper.run()
        }
        if let answer = answer(to: arguments) {
            print(answer.text)
            return answer.status
        }
        Allocator.giveBackWhatIsFree()
        DescriptorLimit.raise()
        // A closed pipe must not end the service.
        signal(SIGPIPE, SIG_IGN)
        return await Wording.$current.withValue(Catalogue().wording) { await serve() }
    }

    /// The end of the terminal that the service was started in, unless nohup(1) ignores it.
    private static var hangup: [UnixSignal] {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        return isIgnored ? [] : [.sighup]
    }

    private static func serve() async -> Int32 {
        let log = Logger(label: "idownd") { _ in StandardErrorLog() }
        if let name = StandardFolders.unreadableVariable {
            let exit = Exit.failed("the path in \(name) is not UTF-8, which idown cannot use")
            log.error("\(exit.message)")
            return exit.status
        }
        let daemon = Daemon(log: log, folders: .current())
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: daemon, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint] + hangup,
                logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        do {
            try await group.run()
            return 0
        } catch let end as Exit {
            log.log(level: end.status == 0 ? .notice : .error, "\(end.message)")
            return end.status
        } catch {
            log.error("\(error)")
            return 70
        }
    }

    private static func answer(to arguments: ArraySlice<String>) -> (text: String, status: Int32)? {
        switch arguments.first {
        case nil: nil
        case "--version": ("idownd \(Contract.version)", 0)
        case "--help", "-h":
            (
                """
                The idown download service; D-Bus and systemd start it when it is needed.
                Usage: idownd [--version | --help]
                It serves org.idown.Manager1 on the session bus until SIGTERM or Quit.
                """, 0
            )
        default: ("idownd takes no arguments; see idownd --help", 64)
        }
    }
}
