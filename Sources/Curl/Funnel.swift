// SPDX-License-Identifier: Apache-2.0

import CCurl

/// Why a call into libcurl failed.
public struct CurlFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// ``CurlCode/localFailure``, or a code of the easy interface for an invalid request.
    public let code: CurlCode
    /// The function that failed and the library's sentence.
    public let description: String

    package init(code: CurlCode, description: String) {
        self.code = code
        self.description = description
    }
}

/// All calls into libcurl that can fail pass through here.
///
/// It turns the library's three conventions (CURLcode, CURLMcode, NULL) into a thrown
/// ``CurlFailure``. A test can make each call fail: that call is not made, as if the library had
/// refused it before it did anything. Without a test it costs a look at nil.
struct Funnel: Sendable {
    /// Counts a call and returns whether it fails, in a test; nil outside of tests.
    let faults: (@Sendable () -> Bool)?

    /// Makes a call of the easy interface; `curl_easy_*`.
    func call(_ name: StaticString, _ body: () -> CURLcode) throws(CurlFailure) {
        let code = strikes ? CURLE_OUT_OF_MEMORY : body()
        guard code != CURLE_OK else { return }
        let isLocal = code == CURLE_OUT_OF_MEMORY || code == CURLE_FAILED_INIT
        throw CurlFailure(
            code: isLocal ? .localFailure : CurlCode(code),
            description: "\(name): \(CurlCode(code))"
        )
    }

    /// Makes a call of the multi interface; `curl_multi_*`.
    func call(_ name: StaticString, _ body: () -> CURLMcode) throws(CurlFailure) {
        let code = strikes ? CURLM_OUT_OF_MEMORY : body()
        guard code != CURLM_OK else { return }
        let sentence = curl_multi_strerror(code).map { String(cString: $0) } ?? "\(code.rawValue)"
        throw CurlFailure(code: .localFailure, description: "\(name): \(sentence)")
    }

    /// Makes a call that returns NULL where there is no memory.
    func call<Pointer>(
        _ name: StaticString,
        _ body: () -> Pointer?
    ) throws(CurlFailure) -> Pointer {
        guard !strikes, let made = body() else {
            throw CurlFailure(code: .localFailure, description: "\(name): Out of memory")
        }
        return made
    }

    /// Makes a call of the URL interface, whose code the caller checks; `curl_url_*`.
    func call(_ name: StaticString, _ body: () -> CURLUcode) -> CURLUcode {
        strikes ? CURLUE_OUT_OF_MEMORY : body()
    }

    private var strikes: Bool { faults?() ?? false }
}
