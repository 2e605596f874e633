# SPDX-License-Identifier: Apache-2.0
# fish completion for latchkey(1): `latchkey complete` prints the candidates

function __latchkey_complete
    set -l words (commandline -opc)
    latchkey complete -- $words[2..-1] "$(commandline -ct)" 2>/dev/null
end
complete -c latchkey -f -a '(__latchkey_complete | string match -v :files)'
complete -c latchkey -n '__latchkey_complete | string match -q :files' -F
