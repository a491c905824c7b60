// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reports the service's state to systemd (sd_notify(3)); does nothing without systemd.
enum ServiceNotifier {
    /// - Parameter state: Assignments, one per line, such as `READY=1`.
    static func send(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }) else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // The name of an abstract socket is written with an @ in place of its leading zero byte.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(offset + name.count)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let bytes = Array(state.utf8)
                // Errors are ignored: nothing can be done if systemd does not receive it.
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
