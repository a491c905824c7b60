// SPDX-License-Identifier: Apache-2.0

import CCurl

/// Methods to sign in by HTTP, in libcurl's bits (CURLOPT_HTTPAUTH(3)).
struct SignInMethods: OptionSet {
    /// A host or a proxy that asks for a login.
    enum Party: Hashable {
        /// A host, for one folder (RFC 7617 section 2.2). What it asks for there says nothing about
        /// other folders, and without TLS no host gets a password that it has not asked for.
        case host(URLReference.Origin, folder: Substring)
        /// A proxy, by its address without a login.
        case proxy(String)
    }

    let rawValue: Int

    /// Basic: sends the password itself (RFC 7617).
    static let basic = SignInMethods(rawValue: Int(ccurl_auth_basic))
    /// Digest: sends a digest of the password, valid for one answer (RFC 7616).
    static let digest = SignInMethods(rawValue: Int(ccurl_auth_digest))
    /// The method that is asked for, Digest before Basic; libcurl sends no login before that.
    static let any: SignInMethods = [.basic, .digest]

    /// The method of these that libcurl would choose.
    var preferred: SignInMethods { contains(.digest) ? .digest : .basic }
}

/// The methods that hosts and proxies have asked for.
///
/// Belongs to the pool's thread.
final class KnownSignIns {
    /// The most parties to remember; beyond it, all are forgotten.
    private static let limit = 1000

    private var methods: [SignInMethods.Party: SignInMethods] = [:]

    /// The method that the party has asked for; nil while it is unknown.
    subscript(party: SignInMethods.Party) -> SignInMethods? {
        get { methods[party] }
        set {
            if methods.count >= Self.limit, methods[party] == nil { methods = [:] }
            methods[party] = newValue
        }
    }
}
