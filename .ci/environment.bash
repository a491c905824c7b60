# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs tests: what all of them need in their environment, and how they know suites
# that may be unsteady.

# The servers of the tests are on this machine: no proxy leads to them.
unset http_proxy https_proxy ftp_proxy all_proxy no_proxy \
    HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY
# A seed of a simulation does the same in every run only if sets and dictionaries do.
export SWIFT_DETERMINISTIC_HASHING=1

# few_failed LOG: prints the suites that failed in a run, joined by "|" for a filter. Fails where none
# did, or more than three: so many have a reason.
few_failed() {
    local suites
    suites=$(sed -nE 's/^✘ +Suite ([A-Za-z0-9]+) failed after .*/\1/p' "$1" | sort -u)
    [[ -n $suites && $(wc -l <<<"$suites") -le 3 ]] && echo "${suites//$'\n'/|}"
}
