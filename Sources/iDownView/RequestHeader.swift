// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A request header as it is typed: `Name: value`.
package struct RequestHeader: Hashable, Sendable {
    package let header: AddOptions.Header

    /// Splits the line; nil where there is no name.
    package init?(_ line: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        header = AddOptions.Header(name: String(line[..<colon]), value: String(value))
    }
}
