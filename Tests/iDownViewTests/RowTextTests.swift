// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct RowTextTests {
    private func task(_ state: TaskProperties.State) -> TaskProperties {
        var task = TaskProperties()
        task.url = "https://example.org:8080/x.iso?token=1"
        task.fileName = "x.iso"
        task.state = state
        task.downloadedBytes = 12 << 20
        task.totalBytes = 30 << 20
        return task
    }

    @Test
    func `a running download tells bytes, speed and about how long`() {
        var running = task(.downloading)
        running.activity = .transferring
        running.speed = 100 << 10
        let text = RowText(running)
        #expect(text.bytes == "12.0 of 30.0 MiB")
        #expect(text.speed == "100.0 KiB/s")
        #expect(text.timeLeft == "about 3 minutes")
        #expect(text.source == "example.org:8080")
        #expect(text.reason == nil)
        #expect(text.description == "Downloading, 40%, about 3 minutes")
    }

    @Test
    func `a failed download tells why, by its code`() {
        var failed = task(.failed)
        failed.errorCode = "Server.NotFound"
        #expect(RowText(failed).reason == "The server does not have the file")
        failed.errorCode = "Network.Unheard"
        #expect(RowText(failed).reason == "The connection to the server broke")
    }

    @Test
    func `a completed download whose file is gone is shown as a failure, also in a narrow list`() {
        var completed = task(.completed)
        #expect(RowText(completed).state == "Completed" && !RowText(completed).isFailure)
        completed.errorCode = "File.Vanished"
        #expect(RowText(completed).state == "The file is gone" && RowText(completed).isFailure)
        var failed = task(.failed)
        failed.errorCode = "Server.NotFound"
        #expect(RowText(failed).state == "Failed" && RowText(failed).isFailure)
        var waiting = task(.waiting)
        waiting.hold = .offline
        #expect(RowText(waiting).state == "Waiting" && !RowText(waiting).isFailure)
    }

    @Test
    func `a failure of the proxy's setting is not told as the server's`() {
        var failed = task(.failed)
        failed.errorCode = "Network.Unreachable"
        #expect(RowText(failed).reason == "The server cannot be reached")
        failed.errorMessage = "The proxy is none. Set another with `idown config proxy URL`."
        #expect(RowText(failed).reason == "The proxy in the settings cannot be used")
    }

    @Test
    func `a server that is still making the file is not told as busy`() {
        var failed = task(.failed)
        failed.errorCode = "Server.Busy"
        failed.errorMessage =
            "The server answered HTTP 202 Accepted. The server is still making the file: a later"
            + " try may succeed."
        let wording = Wording(text: { "<\($0)>" }, plural: { $2 == 1 ? $0 : $1 })
        Wording.$current.withValue(wording) {
            #expect(RowText(failed).reason == "<The server is still making the file>")
        }
        failed.errorMessage = "The server answered HTTP 503 Service Unavailable."
        #expect(RowText(failed).reason == "The server is too busy")
    }

    @Test
    func `a waiting download tells what it waits for`() {
        var waiting = task(.waiting)
        waiting.hold = .offline
        #expect(RowText(waiting).reason == "Waits for a network")
    }

    @Test
    func `texts come in the user's language, values are filled in, and unknown names stay`() {
        let wording = Wording(
            text: { $0 == "{done} of {total}" ? "{total}, {done}, {other}" : "<\($0)>" },
            plural: { $2 == 1 ? $0 : $1 }
        )
        Wording.$current.withValue(wording) {
            #expect(RowText(task(.paused)).bytes == "30.0 MiB, 12.0, {other}")
            #expect(RowText(task(.paused)).speed == "<Paused>")
        }
    }
}
