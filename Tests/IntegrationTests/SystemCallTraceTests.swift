// SPDX-License-Identifier: Apache-2.0

import Testing

struct SystemCallTraceTests {
    private let trace = SystemCallTrace(
        #"""
        101   1700000000.000001 pwrite64(7</s/tasks.sqlite-wal>, "a) = 3\n"..., 32, 0) = 32
        101   1700000000.000002 fdatasync(7</s/tasks.sqlite-wal> <unfinished ...>
        102   1700000000.000003 pwrite64(9</d/x.part>, "b", 1, 0) = 1
        102   1700000000.000004 fsync(9</d/x.part> <unfinished ...>
        101   1700000000.000005 <... fdatasync resumed>) = 0
        101   1700000000.000006 --- SIGCHLD {si_signo=SIGCHLD} ---
        101   1700000000.000007 sendmsg(5<socket:[3]>, {msg_iov=[{iov_base="l\2\1", iov_len=3}]}, 0) = 3
        102   1700000000.000008 <... fsync resumed>) = -1 EIO (Input/output error)
        101   1700000000.000009 fdatasync(7</s/tasks.sqlite-wal>) = 0
        101   1700000000.000010 +++ exited with 0 +++
        """#
    )

    @Test func `calls that were interrupted by others are put together again`() {
        #expect(trace.unread == [])
        #expect(
            trace.calls.map(\.name) == [
                "pwrite64", "fdatasync", "pwrite64", "fsync", "sendmsg", "fdatasync",
            ]
        )
        #expect(trace.calls[1].begin == 1 && trace.calls[1].end == 4)
        #expect(trace.calls[3].begin == 3 && trace.calls[3].end == 7)
        #expect(trace.calls[3].path == "/d/x.part")
        #expect(!trace.calls[3].succeeded && trace.calls[1].succeeded)
        #expect(trace.calls[0].result == "32")
    }

    @Test func `a commit lasts from the first write of the log to its sync`() {
        let commits = trace.commits(of: "/s/tasks.sqlite")
        #expect(commits.count == 1, "a sync without a write before it commits nothing")
        #expect(commits.first.map { [$0.begin, $0.end] } == [0, 4])
    }

    @Test func `a file that was linked later is found by what it was called at first`() {
        let trace = SystemCallTrace(
            #"""
            101   1.1 linkat(AT_FDCWD</>, "/proc/self/fd/9", 7</d>, "x.part", AT_SYMLINK_FOLLOW) = 0
            101   1.2 pwrite64(9</d/#21>(deleted), "b", 1, 0) = 1
            """#
        )
        #expect(trace.path(of: "x.part", in: "/d") == "/d/#21")
        #expect(trace.path(of: "y.part", in: "/d") == "/d/y.part")
    }

    @Test func `what is no call is told`() {
        #expect(SystemCallTrace("101 1.0 what is this").unread.count == 1)
        #expect(SystemCallTrace("nothing").unread == ["nothing"])
    }
}
