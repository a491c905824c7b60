# SPDX-License-Identifier: Apache-2.0
# Sourced by the runs whose halves have a home, a bus and a screen each.

# remove FOLDER: takes away what a run has written, unless IDOWN_KEEP=1 asks for the logs in it.
remove() {
    if [[ -n ${IDOWN_KEEP:-} ]]; then
        echo "The logs of this run are in $1."
    else
        rm -rf "$1" || true
    fi
}

# beside FOLDER FUNCTION WORD...: calls the function with each word at the same time, and fails where
# one of the calls does. The first call's output is shown as it comes, and that of each other one
# whole, once those before it have ended.
beside() {
    local folder=$1 function=$2 status=0 word
    shift 2
    local -A processes
    for word in "$@"; do
        true >"$folder/$word.log"
        "$function" "$word" >>"$folder/$word.log" 2>&1 &
        processes[$word]=$!
    done
    for word in "$@"; do
        tail -n +1 -f -s 0.2 --pid="${processes[$word]}" "$folder/$word.log"
        wait "${processes[$word]}" || status=1
    done
    return "$status"
}
