// SPDX-License-Identifier: Apache-2.0

import CLinux
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

    /// - Returns: The exit status.
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
        prepareProcess()
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
        // It prints nothing: who waits for the end of a pipe waits for the command that started it.
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        dup2(nothing, STDOUT_FILENO)
        close(nothing)
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
        switch Array(arguments) {
        case []: nil
        case ["--version"]: ("idownd \(Contract.version)", 0)
        case ["--help"], ["-h"]:
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

    /// Tunes the C library's malloc, and raises the limit of open files and connections: mallopt(3),
    /// getrlimit(2).
    ///
    /// Call it before the second thread is started.
    private static func prepareProcess() {
        // By default malloc gives each thread its own arena, and after the first large block is
        // freed takes all blocks of that size from the heap, where a small block behind them keeps
        // them from being returned. In a test with a burst of malformed calls, 75 MB of free memory
        // stayed with the process by default, and 5 MB with these settings.
        //
        // One arena is enough: threads seldom compete for it, because each has its own cache.
        _ = mallopt(CLINUX_M_ARENA_MAX, 1)
        // The first threshold is larger than the buffers of transfers, which are often allocated
        // and freed. Once set, neither threshold grows by itself.
        _ = mallopt(CLINUX_M_MMAP_THRESHOLD, 512 << 10)
        _ = mallopt(CLINUX_M_TRIM_THRESHOLD, 1 << 20)
        // Programs start with 1,024, for the sake of those that use select(2). That is too few for
        // 64 downloads with 16 connections each, plus a file and a folder per download.
        let (resource, wanted) = (__rlimit_resource_t(RLIMIT_NOFILE.rawValue), rlim_t(4096))
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        _ = setrlimit(resource, &limit)
    }
}
