// SPDX-License-Identifier: Apache-2.0

import CCurl

/// The multi handle: all transfers of a pool, and the idle connections that they leave.
///
/// Unchecked, because the pool's thread uses it while any thread may call ``wakeUp()``. That is
/// safe: `pointer` never changes, and curl_multi_wakeup(3) is the one function that libcurl allows
/// from other threads. ``TransferPool`` calls it only under the lock with which it also marks its
/// end, and calls ``close()`` after that. All other methods are called only by the pool's thread,
/// or before it exists.
final class MultiHandle: @unchecked Sendable {
    /// How many idle connections are kept for later transfers; each takes a descriptor.
    private static let maximumIdleConnections = 64

    private let funnel: Funnel
    private let pointer: UnsafeMutableRawPointer

    /// `curl_multi_init`.
    init(_ funnel: Funnel) throws(CurlFailure) {
        pointer = try funnel.call("curl_multi_init") { curl_multi_init() }
        self.funnel = funnel
        do throws(CurlFailure) {
            try funnel.call("curl_multi_setopt") {
                ccurl_multi_setopt_long(pointer, CURLMOPT_MAXCONNECTS, Self.maximumIdleConnections)
            }
            // Out of descriptors, libcurl silently makes a handle that cannot be woken up.
            try funnel.call("curl_multi_wakeup") { curl_multi_wakeup(pointer) }
        } catch {
            close()
            throw error
        }
    }

    /// Frees everything; no other method may be called afterwards; `curl_multi_cleanup`.
    func close() { curl_multi_cleanup(pointer) }

    func add(_ easy: EasyHandle) throws(CurlFailure) {
        try funnel.call("curl_multi_add_handle") { curl_multi_add_handle(pointer, easy.pointer) }
    }

    func remove(_ easy: EasyHandle) throws(CurlFailure) {
        try funnel.call("curl_multi_remove_handle") {
            curl_multi_remove_handle(pointer, easy.pointer)
        }
    }

    /// Lets every transfer do what it can do without waiting.
    func perform() throws(CurlFailure) {
        var running: Int32 = 0
        try funnel.call("curl_multi_perform") { curl_multi_perform(pointer, &running) }
    }

    /// Waits until a transfer can continue or another thread calls ``wakeUp()``; without transfers
    /// only that ends the wait.
    ///
    /// libcurl has no unlimited wait here, so the default is three weeks. libcurl's own timers end
    /// the wait earlier.
    func wait(atMost milliseconds: Int32 = .max) throws(CurlFailure) {
        try funnel.call("curl_multi_poll") { curl_multi_poll(pointer, nil, 0, milliseconds, nil) }
    }

    /// Ends the present wait, or the next one; callable from any thread, until ``close()``.
    func wakeUp() {
        do throws(CurlFailure) {
            try funnel.call("curl_multi_wakeup") { curl_multi_wakeup(pointer) }
        } catch {
            // It worked when the handle was made, and there is no caller to tell.
            curl_multi_wakeup(pointer)
        }
    }

    /// Returns the next transfer that has ended by itself, by its easy handle's pointer.
    func nextEnded() -> (easy: UnsafeMutableRawPointer, code: CurlCode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else {
                continue
            }
            return (easy, CurlCode(message.pointee.data.result))
        }
        return nil
    }
}
