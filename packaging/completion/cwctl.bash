# SPDX-License-Identifier: Apache-2.0
#
# cwctl.bash - completion of cwctl for bash: commands, options, and what only the daemon knows (servers, services, and
# the daemons of this machine). The daemon has half a second to answer.

# The options that say which daemon is meant, as given so far.
_cwctl_where()
{
    local i
    where=()
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
            --socket | --node | --lab | --server) ((i + 1 < cword)) && where+=("${words[i]}" "${words[i + 1]}") ;;
            --socket=* | --node=* | --lab=* | --server=*) where+=("${words[i]}") ;;
        esac
    done
}

# The values of one field of an answer, a line each.
_cwctl_field()
{
    local field=$1
    shift
    cwctl "${where[@]}" --json --timeout 500ms "$@" 2>/dev/null | sed -n "s/.*\"$field\":\"\\([^\"]*\\)\".*/\\1/p"
}

# The words of the command, without options and their values.
_cwctl_plain()
{
    local i
    plain=()
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
            --socket | --node | --lab | --server | --timeout | --rounds | --count | --interval | --size | \
                --lost-after | --dead | --job | --key | --cluster | --heirs | --name | --weight | --queue-packets | \
                --queue-bytes | --drop | --to | --as | --mode) ((i++)) ;;
            -*) ;;
            *) plain+=("${words[i]}") ;;
        esac
    done
}

# What comes next in a command of a service's own: the words that it declares, behind those that are there.
_cwctl_service()
{
    local behind="${plain[*]:2}"
    behind=${behind:+$behind }
    _cwctl_field command service "${plain[1]}" --help | sed -n "s/^$behind\\([^ ]*\\).*/\\1/p" | sort -u
}

_cwctl_values()
{
    local links='+x -x +y -y +z -z'
    case "${plain[*]}" in
        '') cwctl complete commands | cut -d ' ' -f 1 | sort -u ;;
        links | capture | cut | mend) echo "$links" ;;
        routes) _cwctl_field server servers ;;
        ping) echo 'key all far' && _cwctl_field server servers ;;
        trace) echo key && _cwctl_field server servers ;;
        services) echo 'load reload unload weight' ;;
        'services unload' | 'services weight' | service) _cwctl_field service services ;;
        'service '*) _cwctl_service ;;
        job) cwctl complete commands | sed -n 's/^job //p' ;;
        'job show' | 'job destroy' | 'job grant'* | 'job revoke'*)
            _cwctl_field name job list && _cwctl_field service services
            ;;
        'log level') echo 'error warn info debug' ;;
        key | config | log | file) cwctl complete commands | sed -n "s/^${plain[0]} //p" ;;
        help) cwctl complete commands ;;
    esac
}

_cwctl()
{
    local cur prev words cword where plain
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n =: cur prev words cword
    else
        words=("${COMP_WORDS[@]}")
        cword=$COMP_CWORD
        cur=${words[cword]}
        prev=${words[cword - 1]}
    fi
    _cwctl_where
    _cwctl_plain
    local all=''
    case $prev in
        --socket) compopt -o filenames 2>/dev/null && mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
        --node) all=$(cwctl "${where[@]}" complete nodes 2>/dev/null) ;;
        --server) all=$(echo all && _cwctl_field server servers) ;;
        --dead) all=$(_cwctl_field server servers) ;;
        --job) all=$(_cwctl_field service services) ;;
        --drop) all='tail oldest priority' ;;
        --to) all=$(echo all && _cwctl_field server servers) ;;
        --timeout | --rounds | --lab | --count | --interval | --size | --lost-after | --heirs) return ;;
        --name | --weight | --queue-* | --as | --mode) return ;;
        *)
            if [[ $cur == -* && ! $cur =~ ^-[xyz]?$ ]]; then
                all="--socket --node --lab --server --json --watch --rounds --timeout --help --version
                    $(cwctl complete "${plain[@]}" 2>/dev/null)"
            elif [[ ${plain[*]} == 'services load' || ${plain[*]} == 'file send' ||
                ${plain[0]} == capture && ${#plain[@]} -eq 2 ]]; then
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                return
            else
                all=$(_cwctl_values)
            fi
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$all" -- "$cur")
}

complete -F _cwctl cwctl
