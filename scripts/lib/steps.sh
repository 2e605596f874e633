#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the test scripts share. Source it after `work` names a temporary folder: . scripts/lib/steps.sh

# step <description> <command...>: prints one line; when the command fails, its output too, and ends the script. A step may
# leave further lines to be printed in $work/note.
step() {
    description=$1 begin=$(date +%s)
    shift
    if "$@" >"$work/log" 2>&1; then
        printf 'pass  %s (%s s)\n' "$description" "$(($(date +%s) - begin))"
        [ ! -s "$work/note" ] || sed 's/^/      /' "$work/note"
        rm -f "$work/note"
    else
        sed 's/^/      /' "$work/log"
        printf 'FAIL  %s\n' "$description"
        exit 1
    fi
}

# ran <testing | xctest> <output>: whether the output of a test run reports at least one test and no failure.
ran() {
    case $1 in
    testing) grep -q 'Test run with [1-9][0-9]* test.* passed' "$2" ;;
    xctest) grep -q 'Executed [1-9][0-9]* tests, with 0 failures' "$2" ;;
    esac
}

# passed <swift test ...>: a run that passes without a test is a failure.
passed() {
    "$@" >"$work/tests" 2>&1 && ran testing "$work/tests" || { cat "$work/tests"; return 1; }
}

# simulated_keychain: an empty keychain folder of the simulated tier at $work/keychain.
simulated_keychain() {
    mkdir -p "$work/keychain"
    chmod 700 "$work/keychain"
    echo 'tier = simulated' >"$work/keychain/latchkeyd.conf"
}
