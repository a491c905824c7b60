// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension Style.Ink {
    /// The colours of iDown's list: what runs is green, what rests is blue, what broke is red.
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
