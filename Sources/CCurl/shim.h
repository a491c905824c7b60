// SPDX-License-Identifier: Apache-2.0

// What Swift cannot import of libcurl: variadic functions. Each shim below fixes one type of the
// last argument, so that a wrong pairing of option and value is at least a wrong name on the
// Swift side. The parentheses around the function's name keep curl's type-checking macros away:
// they need an option known at compile time, and here it is a parameter.

#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
#include <dlfcn.h>

// CURLOPTTYPE_LONG and CURLOPTTYPE_VALUES.
static inline CURLcode ccurl_setopt_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

// CURLOPTTYPE_STRINGPOINT: libcurl copies the string; NULL resets the option.
static inline CURLcode ccurl_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}

// CURLOPTTYPE_CBPOINT and CURLOPTTYPE_OBJECTPOINT: kept as it is, and owned by the caller.
static inline CURLcode ccurl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}

// CURLOPTTYPE_SLISTPOINT: the list stays the caller's and must outlive the transfer.
static inline CURLcode ccurl_setopt_list(CURL *handle, CURLoption option,
                                         struct curl_slist *value) {
    return (curl_easy_setopt)(handle, option, value);
}

// CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, which share one type.
static inline CURLcode ccurl_setopt_write_function(CURL *handle, CURLoption option,
                                                   curl_write_callback value) {
    return (curl_easy_setopt)(handle, option, value);
}

// CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode ccurl_setopt_open_socket_function(CURL *handle,
                                                         curl_opensocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

// CURLOPT_PREREQFUNCTION.
static inline CURLcode ccurl_setopt_prereq_function(CURL *handle, curl_prereq_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_PREREQFUNCTION, value);
}

// CURLOPT_SSH_KEYFUNCTION.
static inline CURLcode ccurl_setopt_ssh_key_function(CURL *handle, curl_sshkeycallback value) {
    return (curl_easy_setopt)(handle, CURLOPT_SSH_KEYFUNCTION, value);
}

// CURLAUTH_BASIC and CURLAUTH_DIGEST, whose casts Swift does not import.
static const long ccurl_auth_basic = (long)CURLAUTH_BASIC;
static const long ccurl_auth_digest = (long)CURLAUTH_DIGEST;

// CURLINFO_LONG.
static inline CURLcode ccurl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

// CURLINFO_OFF_T.
static inline CURLcode ccurl_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

// CURLINFO_STRING: the text is the handle's, valid until its next transfer.
static inline CURLcode ccurl_getinfo_string(CURL *handle, CURLINFO info, const char **value) {
    return (curl_easy_getinfo)(handle, info, (char **)value);
}

// CURLINFO_TLS_SSL_PTR: the SSL of the connection that the transfer is on; NULL where it is on none,
// and where another library than OpenSSL does the TLS.
static inline CURLcode ccurl_getinfo_tls(CURL *handle, void **value) {
    struct curl_tlssessioninfo *info = NULL;
    CURLcode code = (curl_easy_getinfo)(handle, CURLINFO_TLS_SSL_PTR, &info);
    int is_openssl = code == CURLE_OK && info && info->backend == CURLSSLBACKEND_OPENSSL;
    *value = is_openssl ? info->internals : NULL;
    return code;
}

// Whether HTTP/2 was agreed on; 0 also where nobody knows. The function is that of the OpenSSL which
// libcurl brings into the process: linking another one would be asking for two.
static inline int ccurl_speaks_http2(void *ssl) {
    void (*selected)(const void *, const unsigned char **, unsigned int *);
    *(void **)(&selected) = dlsym(NULL, "SSL_get0_alpn_selected");
    if (!ssl || !selected) return 0;
    const unsigned char *name = NULL;
    unsigned int length = 0;
    selected(ssl, &name, &length);
    return length == 2 && name && name[0] == 'h' && name[1] == '2';
}

// Whether bytes were decrypted that nobody has read; 0 also where nobody knows.
static inline int ccurl_has_pending(void *ssl) {
    int (*pending)(const void *);
    *(void **)(&pending) = dlsym(NULL, "SSL_pending");
    return ssl && pending && pending(ssl) > 0;
}

// CURLMOPTTYPE_LONG.
static inline CURLMcode ccurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
    return (curl_multi_setopt)(handle, option, value);
}

#endif
