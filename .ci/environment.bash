# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs tests: what all of them need in their environment.

# The servers of the tests are on this machine: no proxy leads to them.
unset http_proxy https_proxy ftp_proxy all_proxy no_proxy \
    HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY
# A seed of a simulation does the same in every run only if sets and dictionaries do.
export SWIFT_DETERMINISTIC_HASHING=1
