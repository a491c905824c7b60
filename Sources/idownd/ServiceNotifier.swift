// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Tells systemd how far the service is (sd_notify(3)); does nothing where nobody listens.
enum ServiceNotifier {
    /// - Parameter state: assignments, one a line: `READY=1`.
    static func send(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }) else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // A socket in the abstract name space is written with an @ for its leading zero byte.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let descriptor = socket(
            AF_UNIX,
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(offset + name.count)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let bytes = Array(state.utf8)
                // Nobody can do anything about a supervisor that does not listen.
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
