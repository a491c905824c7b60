// SPDX-License-Identifier: Apache-2.0

public import DBus

extension AddOptions {
    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] {
        var dictionary: [String: Value] = [:]
        for key in Key.allCases { dictionary[key.rawValue] = value(of: key) }
        return dictionary
    }

    private func value(of key: Key) -> Value? {
        switch key {
        case .directory: directory?.busValue
        case .filename: filename?.busValue
        case .paused: paused?.busValue
        case .priority: priority?.busValue
        case .connections: connections?.busValue
        case .headers: headers.isEmpty ? nil : headerDictionary
        case .referrer: referrer?.busValue
        case .userAgent: userAgent?.busValue
        case .cookies: cookies?.busValue
        case .token: token?.busValue
        case .onExisting: onExisting?.rawValue.busValue
        case .whenDone: whenDone?.rawValue.busValue
        case .speedLimit: speedLimit?.busValue
        case .mirrors: mirrors.isEmpty ? nil : mirrors.busValue
        case .checksum: checksum?.busValue
        case .expectedSize: expectedSize?.busValue
        case .retryFor: retryFor?.busValue
        }
    }

    private var headerDictionary: Value {
        .dictionary(
            key: String.signature,
            value: String.signature,
            headers.map { Value.Entry(key: .string($0.name), value: .string($0.value)) }
        )
    }
}
