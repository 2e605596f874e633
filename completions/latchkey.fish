# SPDX-License-Identifier: Apache-2.0
# fish completion for latchkey(1)

set -l commands set get list delete key passcode status log check lock unlock export import apps sim reset
complete -c latchkey -f
complete -c latchkey -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c latchkey -l json -d 'Write for programs'
complete -c latchkey -s h -l help -d 'Show help'
complete -c latchkey -n '__fish_seen_subcommand_from set get list delete; and not __fish_seen_subcommand_from key' -s s -l service -x -d 'Service name'
complete -c latchkey -n '__fish_seen_subcommand_from set' -s l -l label -x -d 'Label'
complete -c latchkey -n '__fish_seen_subcommand_from set' -s r -l replace -d 'Replace an item that exists'
complete -c latchkey -n '__fish_seen_subcommand_from set' -s p -l protect -x \
    -a 'none presence biometry current-set passcode' -d 'What releases it'
complete -c latchkey -n '__fish_seen_subcommand_from get delete; and not __fish_seen_subcommand_from key' \
    -a "(latchkey list 2>/dev/null | awk 'NR > 1 { print \$1 }')"
complete -c latchkey -n '__fish_seen_subcommand_from passcode' -a 'set change remove check'
complete -c latchkey -n '__fish_seen_subcommand_from sim' \
    -a 'start stop sensor enrol unenrol replace touch look enter fallback cancel acknowledge enter-code code accept-any face lock unlock pair unpair near far confirm background foreground passcode advance restart fail transcript reset'
complete -c latchkey -n '__fish_seen_subcommand_from sim' -s o -l other -d 'Touch with another finger'
complete -c latchkey -n '__fish_seen_subcommand_from log' -l limit -x -d 'The newest entries only'
complete -c latchkey -n '__fish_seen_subcommand_from log' -l verify -d 'Check the chain'
complete -c latchkey -n '__fish_seen_subcommand_from log' -l daemon -d 'What the daemon wrote down about itself'
complete -c latchkey -n '__fish_seen_subcommand_from check' -l restore -d 'Bring back what is whole again'
complete -c latchkey -n '__fish_seen_subcommand_from check' -l accept -d 'Use the store as it is'
complete -c latchkey -n '__fish_seen_subcommand_from reset' -l protected -d 'Discard what asks for a proof'
complete -c latchkey -n '__fish_seen_subcommand_from apps' -l revoke -x -d 'Refuse an app Face ID'
complete -c latchkey -n '__fish_seen_subcommand_from apps' -l forget -x -d 'Let an app ask again'
set -l verbs create list public sign verify encrypt decrypt delete
complete -c latchkey -n "__fish_seen_subcommand_from key; and not __fish_seen_subcommand_from $verbs" -a "$verbs"
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from public sign verify encrypt decrypt delete' \
    -a "(latchkey key list 2>/dev/null | awk 'NR > 1 { print \$1 }')"
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from sign verify encrypt decrypt' -F
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from create' -l type -x \
    -a 'p256 p384 p521 rsa2048 rsa3072 rsa4096' -d 'Kind of key'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from create' -l enclave -d 'Keep it in the enclave'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from create' -l label -x -d 'Label'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from create' -l protect -x \
    -a 'none presence biometry current-set passcode' -d 'What releases it'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from public' -l format -x \
    -a 'pem der ssh jwk x963' -d 'Form of the public key'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from sign verify' -l hash -x \
    -a 'sha256 sha384 sha512' -d 'What is signed'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from sign verify' -l pss -d 'RSA with PSS'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from verify' -l signature -r -F -d 'The signature'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from public sign verify encrypt decrypt' -l hex -d 'As hexadecimal digits'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from public sign verify encrypt decrypt' -l base64 -d 'As base64'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from public sign encrypt decrypt' -l output -r -F -d 'Write into a file'
complete -c latchkey -n '__fish_seen_subcommand_from key; and __fish_seen_subcommand_from public sign encrypt decrypt' -l replace -d 'Replace a file'
