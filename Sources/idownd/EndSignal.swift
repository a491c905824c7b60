// SPDX-License-Identifier: Apache-2.0

/// Signals once that the service should end.
struct EndSignal: Sendable {
    private let stream: AsyncStream<Void>
    private let post: AsyncStream<Void>.Continuation

    init() { (stream, post) = AsyncStream.makeStream() }

    func send() { post.finish() }

    func wait() async { for await _ in stream {} }
}
