// SPDX-License-Identifier: Apache-2.0

package import Curl
import Synchronization

/// What runs the requests: each file system has transfer threads of its own.
///
/// So a transfer thread may write what it receives: if its disk hangs, no download to another disk
/// stands still. With bytes handed to another thread, a download took a third more time and two
/// thirds more of the processor, because that processor did not have them in its cache.
package final class TransferDrivers: Sendable {
    struct Choice {
        let driver: any TransferDriver
        /// The file system for which the driver's thread may wait; nil for none.
        let ownDisk: UInt64?
    }

    private struct Key: Hashable {
        /// The device number of the file system.
        let device: UInt64?
        /// Whether it runs HTTP; if not, FTP and SFTP.
        ///
        /// libcurl sometimes blocks while it waits for such a server's last reply, and must not stop
        /// HTTP downloads meanwhile.
        let isForHTTP: Bool
    }

    private let first: any TransferDriver
    private let make: @Sendable () -> (any TransferDriver)?
    private let drivers = Mutex<[Key: any TransferDriver]>([:])

    /// One driver for all requests.
    package init(_ driver: any TransferDriver) { (first, make) = (driver, { nil }) }

    /// Pools of libcurl.
    ///
    /// - Throws: where not even one pool can be made.
    package init() throws(CurlFailure) {
        (first, make) = (try TransferPool(), { try? TransferPool() })
    }

    /// Chooses the driver for requests that write to a file system.
    ///
    /// - Parameters:
    ///   - device: the file system's device number; nil if nothing is written, or if the caller's own
    ///     thread may block.
    ///   - isForHTTP: whether the requests are HTTP's.
    /// - Returns: the file system's own driver, which is made at its first use.
    func choice(for device: UInt64?, isForHTTP: Bool) -> Choice {
        drivers.withLock { drivers in
            let key = Key(device: device, isForHTTP: isForHTTP)
            if let known = drivers[key] { return Choice(driver: known, ownDisk: device) }
            // Where there is no memory for another, the first serves until there is.
            guard let new = drivers.isEmpty ? first : make() else {
                return Choice(driver: first, ownDisk: nil)
            }
            drivers[key] = new
            return Choice(driver: new, ownDisk: device)
        }
    }

    /// Ends the requests that use addresses which this computer no longer has.
    func endTransfers(cutOffFrom addresses: Set<SocketAddress>) {
        for driver in all { driver.endTransfers(cutOffFrom: addresses) }
    }

    /// Ends all requests and threads; waits for a thread that hangs on its disk.
    package func shutDown() async {
        await withDiscardingTaskGroup { group in
            for driver in all { group.addTask { await driver.shutDown() } }
        }
    }

    private var all: [any TransferDriver] { [first] + drivers.withLock { Array($0.values) } }
}
