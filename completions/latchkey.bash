# SPDX-License-Identifier: Apache-2.0
# bash completion for latchkey(1)

_latchkey() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=
    if ((COMP_CWORD == 1)); then
        words='set get list delete passcode status log check lock unlock export import apps sim --help --version'
    else
        case $previous in
        --protect | -p) words='none presence biometry current-set passcode' ;;
        --service | -s | --label | -l | --limit) return ;;
        *)
            case $command in
            set) words='--service --label --protect --replace --json --help' ;;
            get | delete) words='--service --json --help' ;;
            list) words='--service --json --help' ;;
            passcode) words='set change remove check --json --help' ;;
            status | lock | unlock) words='--json --help' ;;
            check) words='--restore --json --help' ;;
            export | import)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return
                ;;
            log) words='--limit --verify --json --help' ;;
            apps) words='--revoke --forget --json --help' ;;
            sim)
                case $previous in
                sensor) words='none touch face optic' ;;
                passcode) words='set change remove' ;;
                face) words='allow deny' ;;
                accept-any) words='on off' ;;
                fail) words='disk entitlement sensor' ;;
                pair | unpair | near | far) words='watch mac vision' ;;
                sim) words='start stop sensor enrol unenrol replace touch look enter fallback cancel accept-any face lock unlock pair unpair near far confirm background foreground passcode advance restart fail transcript reset' ;;
                *) words='--other --json --help' ;;
                esac
                ;;
            esac
            case $command in
            get | delete)
                # Names only: listing asks for nothing and shows no secret.
                [[ $word == -* ]] || words+=" $(latchkey list 2>/dev/null | awk 'NR > 1 { print $1 }')"
                ;;
            esac
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _latchkey latchkey
