// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension TaskProperties {
    /// Whether nothing more happens by itself.
    package var hasEnded: Bool {
        state == .completed || state == .failed || state == .cancelled
    }
}
