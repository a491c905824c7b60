// SPDX-License-Identifier: Apache-2.0

import CCurl

/// Why a call into libcurl failed.
public struct CurlFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// ``CurlCode/localFailure``, or a code of the easy interface for a request that cannot be sent.
    public let code: CurlCode
    /// The function that failed and the library's sentence.
    public let description: String

    package init(code: CurlCode, description: String) {
        self.code = code
        self.description = description
    }
}

/// The one point through which each call into libcurl passes that can fail.
///
/// It turns the library's three conventions (CURLcode, CURLMcode, NULL) into a thrown
/// ``CurlFailure``; with a plan it makes the n-th call fail. Without one it costs a test for nil.
struct Funnel: Sendable {
    let plan: CurlFaultPlan?

    /// A call of the easy interface; `curl_easy_*`.
    func call(_ name: StaticString, _ body: () -> CURLcode) throws(CurlFailure) {
        let code = strikes ? CURLE_OUT_OF_MEMORY : body()
        guard code != CURLE_OK else { return }
        let isLocal = code == CURLE_OUT_OF_MEMORY || code == CURLE_FAILED_INIT
        throw CurlFailure(
            code: isLocal ? .localFailure : CurlCode(code),
            description: "\(name): \(CurlCode(code))"
        )
    }

    /// A call of the multi interface; `curl_multi_*`.
    func call(_ name: StaticString, _ body: () -> CURLMcode) throws(CurlFailure) {
        let code = strikes ? CURLM_OUT_OF_MEMORY : body()
        guard code != CURLM_OK else { return }
        let sentence = curl_multi_strerror(code).map { String(cString: $0) } ?? "\(code.rawValue)"
        throw CurlFailure(code: .localFailure, description: "\(name): \(sentence)")
    }

    /// A call that answers NULL when there is no memory.
    func call<Pointer>(
        _ name: StaticString,
        _ body: () -> Pointer?
    ) throws(CurlFailure) -> Pointer {
        guard !strikes, let made = body() else {
            throw CurlFailure(code: .localFailure, description: "\(name): Out of memory")
        }
        return made
    }

    /// A call of the URL interface, which answers a code that its caller reads; `curl_url_*`.
    func call(_ name: StaticString, _ body: () -> CURLUcode) -> CURLUcode {
        strikes ? CURLUE_OUT_OF_MEMORY : body()
    }

    private var strikes: Bool { plan?.strikes() ?? false }
}
