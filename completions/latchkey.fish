# SPDX-License-Identifier: Apache-2.0
# fish completion for latchkey(1)

set -l commands set get list delete passcode status log check lock unlock export import apps sim
complete -c latchkey -f
complete -c latchkey -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c latchkey -l json -d 'Write for programs'
complete -c latchkey -s h -l help -d 'Show help'
complete -c latchkey -n '__fish_seen_subcommand_from set get list delete' -s s -l service -x -d 'Service name'
complete -c latchkey -n '__fish_seen_subcommand_from set' -s l -l label -x -d 'Label'
complete -c latchkey -n '__fish_seen_subcommand_from set' -s r -l replace -d 'Replace an item that exists'
complete -c latchkey -n '__fish_seen_subcommand_from set' -s p -l protect -x \
    -a 'none presence biometry current-set passcode' -d 'What releases it'
complete -c latchkey -n '__fish_seen_subcommand_from get delete' \
    -a "(latchkey list 2>/dev/null | awk 'NR > 1 { print \$1 }')"
complete -c latchkey -n '__fish_seen_subcommand_from passcode' -a 'set change remove check'
complete -c latchkey -n '__fish_seen_subcommand_from sim' \
    -a 'start stop sensor enrol unenrol replace touch look enter fallback cancel accept-any face lock unlock pair unpair near far confirm background foreground passcode advance restart fail transcript reset'
complete -c latchkey -n '__fish_seen_subcommand_from sim' -s o -l other -d 'Touch with another finger'
complete -c latchkey -n '__fish_seen_subcommand_from log' -l limit -x -d 'The newest entries only'
complete -c latchkey -n '__fish_seen_subcommand_from log' -l verify -d 'Check the chain'
complete -c latchkey -n '__fish_seen_subcommand_from check' -l restore -d 'Bring back what is whole again'
complete -c latchkey -n '__fish_seen_subcommand_from apps' -l revoke -x -d 'Refuse an app Face ID'
complete -c latchkey -n '__fish_seen_subcommand_from apps' -l forget -x -d 'Let an app ask again'
