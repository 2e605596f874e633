# SPDX-License-Identifier: Apache-2.0
# bash completion for latchkey(1)

_latchkey() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=
    if ((COMP_CWORD == 1)); then
        words='set get list delete key passcode status log check lock unlock export import apps sim reset --help --version'
    else
        case $previous in
        --protect | -p) words='none presence biometry current-set passcode' ;;
        --type) words='p256 p384 p521 rsa2048 rsa3072 rsa4096' ;;
        --hash) words='sha256 sha384 sha512' ;;
        --format) words='pem der ssh jwk x963' ;;
        --signature | --output)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        --service | -s | --label | -l | --limit) return ;;
        *)
            case $command in
            set) words='--service --label --protect --replace --json --help' ;;
            get | delete) words='--service --json --help' ;;
            list) words='--service --json --help' ;;
            key)
                if ((COMP_CWORD == 2)); then
                    words='create list public sign verify encrypt decrypt delete --help'
                else
                    case ${COMP_WORDS[2]} in
                    create) words='--type --enclave --protect --label --json --help' ;;
                    list | delete) words='--json --help' ;;
                    public) words='--format --hex --base64 --output --replace --json --help' ;;
                    sign) words='--hash --pss --hex --base64 --output --replace --json --help' ;;
                    verify) words='--signature --hash --pss --hex --base64 --json --help' ;;
                    encrypt | decrypt) words='--hex --base64 --output --replace --json --help' ;;
                    esac
                    case ${COMP_WORDS[2]} in
                    public | sign | verify | encrypt | decrypt | delete)
                        [[ $word == -* ]] || words+=" $(latchkey key list 2>/dev/null | awk 'NR > 1 { print $1 }')"
                        ;;
                    esac
                    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
                    case ${COMP_WORDS[2]} in
                    # The name, then a file.
                    sign | verify | encrypt | decrypt)
                        [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
                        ;;
                    esac
                    return
                fi
                ;;
            passcode) words='set change remove check --json --help' ;;
            status | lock | unlock) words='--json --help' ;;
            check) words='--restore --accept --json --help' ;;
            reset) words='--protected --json --help' ;;
            export | import)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return
                ;;
            log) words='--limit --verify --daemon --json --help' ;;
            apps) words='--revoke --forget --json --help' ;;
            sim)
                case $previous in
                sensor) words='none touch face optic' ;;
                passcode) words='set change remove' ;;
                face) words='allow deny' ;;
                accept-any) words='on off' ;;
                fail) words='disk entitlement sensor' ;;
                pair | unpair | near | far) words='watch mac vision' ;;
                sim) words='start stop sensor enrol unenrol replace touch look enter fallback cancel acknowledge enter-code code accept-any face lock unlock pair unpair near far confirm background foreground passcode advance restart fail transcript reset' ;;
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
