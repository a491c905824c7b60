// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

/// Walks through every call into libcurl that can fail, and lets each fail once.
@Suite(.timeLimit(.minutes(5)))
struct CurlFaultTests {
    private let content = TestContent(seed: 3, count: 200_000)

    /// What one run came to; nil outcomes where there was no pool.
    private struct Run {
        var calls = 0
        var failure: CurlFailure?
        var outcomes: [TransferOutcome] = []
        var isWhole = false
    }

    @Test func `each failing call ends in an error or an outcome`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        var strikes = 0
        for n in 1... {
            let run = try await run(failing: n, server)
            guard run.calls >= n else {
                // The whole scenario was faster than n calls: nothing was made to fail.
                #expect(run.outcomes.map(\.result) == [.ok, .ok, .aborted])
                #expect(run.isWhole)
                break
            }
            strikes += 1
            if run.failure == nil { #expect(run.outcomes.count == 3) }
            for outcome in run.outcomes where outcome.result != .ok {
                #expect([.aborted, .localFailure].contains(outcome.result), "call \(n)")
                #expect(outcome.message != "", "call \(n)")
            }
            // What libcurl did not report as done is never taken for done.
            if run.outcomes.first?.result == .ok { #expect(run.isWhole, "call \(n)") }
        }
        // A pool, 3 transfers with some 20 options each, and their ends.
        #expect(strikes > 80)
    }

    @Test func `a call that fails for one transfer leaves the other one running`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        var failures = 0
        for n in 1... {
            let plan = CallFaults(failing: [n])
            do throws(CurlFailure) {
                let pool = try TransferPool(faults: plan.strikes)
                var request = TransferRequest(url: try url(server))
                request.range = (0, nil)
                let sink = RecordingSink(at: 50_000, .pause)
                let neighbour = pool.begin(request, sink: sink)
                // Where the transfer fails before its pause, the gate would stay shut.
                Task {
                    _ = await neighbour.outcome()
                    sink.reachedPoint.open()
                }
                await sink.reachedPoint.waitUntilOpen()
                let other = await pool.run(request)
                neighbour.resume()
                let outcomes = [await neighbour.outcome(), other]
                await pool.shutDown()
                let failed = outcomes.filter { $0.result != .ok }
                failures += failed.count
                #expect(failed.count <= 1, "call \(n): \(failed.map(\.message))")
            } catch {
                // The pool itself could not be made.
            }
            if plan.calls < n { break }
        }
        #expect(failures > 10)
    }

    /// A pool, a transfer that pauses and goes on, one that uses its connection, one cancelled.
    private func run(failing n: Int, _ server: FaultServer) async throws -> Run {
        let plan = CallFaults(failing: [n])
        var run = Run()
        do throws(CurlFailure) {
            let pool = try TransferPool(faults: plan.strikes)
            var request = TransferRequest(url: try url(server))
            request.range = (0, nil)
            let sink = RecordingSink(at: 50_000, .pause)
            let first = pool.begin(request, sink: sink)
            // Where the transfer fails before its pause, the gate would stay shut.
            Task {
                _ = await first.outcome()
                sink.reachedPoint.open()
            }
            await sink.reachedPoint.waitUntilOpen()
            first.resume()
            run.outcomes.append(await first.outcome())
            run.outcomes.append(await pool.run(request))
            let last = pool.begin(request, sink: RecordingSink(at: 0, .pause))
            last.cancel()
            run.outcomes.append(await last.outcome())
            await pool.shutDown()
            run.isWhole = sink.body == content.bytes
        } catch {
            run.failure = error
        }
        run.calls = plan.calls
        return run
    }

    private func url(_ server: FaultServer) throws(CurlFailure) -> URLReference {
        do throws(URLFailure) {
            return try URLReference(server.url())
        } catch {
            throw CurlFailure(code: .malformedURL, description: "\(error)")
        }
    }

    @Test func `each failing call of the URL parser is told`() throws {
        let text = "http://me:word@bücher.example:81/a b?q"
        for n in 1... {
            let plan = CallFaults(failing: [n])
            do throws(URLFailure) {
                let url = try URLReference(text, faults: plan.strikes)
                #expect(plan.calls < n)
                #expect(url.host == "xn--bcher-kva.example")
                return
            } catch {
                // An international name that fails is taken for a bad name, whatever failed.
                #expect([.outOfMemory, .host].contains(error))
            }
        }
    }

    @Test func `nothing is left of a pool and its sinks`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        weak var sinkLeft: RecordingSink?
        weak var poolLeft: TransferPool?
        do {
            let pool = try TransferPool()
            let sink = RecordingSink()
            (poolLeft, sinkLeft) = (pool, sink)
            _ = await pool.run(.init(url: try URLReference(server.url())), sink: sink)
            await pool.shutDown()
        }
        #expect(poolLeft == nil)
        #expect(sinkLeft == nil)
    }
}
