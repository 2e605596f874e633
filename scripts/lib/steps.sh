#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions that the test scripts share. A script sets `work` to a temporary folder and then sources this file:
# . scripts/lib/steps.sh

# step <description> <command...>: runs the command and prints one line. If the command fails, also prints its output and
# ends the script. A command can write further lines to print into $work/note.
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

# passed <swift test ...>: whether the tests pass; a run without any test counts as a failure.
passed() {
    "$@" >"$work/tests" 2>&1 && ran testing "$work/tests" || { cat "$work/tests"; return 1; }
}

# simulated_keychain: creates an empty store folder of tier `simulated` at $work/keychain.
simulated_keychain() {
    mkdir -p "$work/keychain"
    chmod 700 "$work/keychain"
    echo 'tier = simulated' >"$work/keychain/latchkeyd.conf"
}
