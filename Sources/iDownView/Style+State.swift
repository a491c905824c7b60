// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension Style.Ink {
    /// The ink of a state: downloading is green, paused blue, failed red, cancelled dim.
    package init(_ state: TaskProperties.State) {
        self =
            switch state {
            case .downloading: .green
            case .paused: .blue
            case .failed: .red
            case .cancelled: .dim
            default: .plain
            }
    }
}
