// SPDX-License-Identifier: Apache-2.0

import CCurl

/// Ways to sign in by HTTP, in libcurl's bits (CURLOPT_HTTPAUTH(3)).
struct SignInMethods: OptionSet {
    /// Who wants to know who asks.
    enum Party: Hashable {
        /// A host, for what lies in one folder (RFC 7617 section 2.2): what it asks for there says
        /// nothing of another one, and in clear nobody gets a password that he has not asked for.
        case host(URLReference.Origin, folder: Substring)
        /// A proxy's address, without a login.
        case proxy(String)
    }

    let rawValue: Int

    /// The password, readable (RFC 7617).
    static let basic = SignInMethods(rawValue: Int(ccurl_auth_basic))
    /// A digest of it, good for one answer (RFC 7616).
    static let digest = SignInMethods(rawValue: Int(ccurl_auth_digest))
    /// Whichever is asked for, Digest before Basic; libcurl sends nothing before that.
    static let any: SignInMethods = [.basic, .digest]

    /// The one of them that libcurl would choose.
    var preferred: SignInMethods { contains(.digest) ? .digest : .basic }
}

/// How hosts and proxies want to be signed in to, as they have said.
///
/// Belongs to the pool's thread.
final class KnownSignIns {
    /// Whoever asks more of them than this in one run begins to learn anew.
    private static let limit = 1000

    private var methods: [SignInMethods.Party: SignInMethods] = [:]

    /// Nil while nobody has said anything.
    subscript(party: SignInMethods.Party) -> SignInMethods? {
        get { methods[party] }
        set {
            if methods.count >= Self.limit, methods[party] == nil { methods = [:] }
            methods[party] = newValue
        }
    }
}
