# SPDX-License-Identifier: Apache-2.0
# fish completion for latchkey-server(8): `latchkey-server complete` prints the candidates

function __latchkey_server_complete
    set -l words (commandline -opc)
    latchkey-server complete -- $words[2..-1] "$(commandline -ct)" 2>/dev/null
end
complete -c latchkey-server -f -a '(__latchkey_server_complete | string match -v :files)'
complete -c latchkey-server -n '__latchkey_server_complete | string match -q :files' -F
