# SPDX-License-Identifier: Apache-2.0
#
# program.bash - completion of cwlab and cwsim for bash: commands and options, as their --help lists them, and files. It
# is installed once under each name.

# The names below "Commands:" of --help.
_cubeway_commands()
{
    "$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The options of a command; with a name, the words that its help offers for that option ("raw|pcap|udp").
_cubeway_options()
{
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\) .*/\1/p'
}

_cubeway_choices()
{
    "$1" "$2" --help 2>/dev/null | sed -n "s/^  $3 \\([a-z]*|[a-z|]*\\) .*/\\1/p" | tr '|' ' '
}

# Labs as "NAME XxYxZ", a line each.
_cwlab_labs()
{
    "${COMP_WORDS[0]}" list --json 2>/dev/null | sed -n '/"lab":/{s/.*: "\([^"]*\)".*/\1/;h};/"dims":/{s/.*: "\([^"]*\)".*/\1/;H;x;s/\n/ /p}'
}

# The servers of the lab that is meant: that of --name or CWLAB_NAME, or the first one.
_cwlab_servers()
{
    local name=${CWLAB_NAME-} dims i x y z
    for ((i = 1; i + 1 < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == --name ]] && name=${COMP_WORDS[i + 1]}
    done
    dims=$(_cwlab_labs | awk -v name="$name" 'name == "" || $1 == name { print $2; exit }')
    IFS=x read -r x y z <<<"$dims"
    for ((i = 0; i < ${x:-0} * y * z; i++)); do
        echo "$((i / (y * z))),$((i / z % y)),$((i % z))"
    done
}

# What may stand where a command of cwlab takes servers: servers, and behind them links, or the commands of cwctl.
_cwlab_words()
{
    local word last=''
    for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
        [[ $word == all || $word == *,*,* ]] && last=server
        [[ $last == server && $word != all && $word != *,*,* ]] && last=behind
    done
    case ${COMP_WORDS[1]}:$last in
        ctl:) echo all && _cwlab_servers ;;
        ctl:server) _cwlab_servers && cwctl complete commands 2>/dev/null | cut -d ' ' -f 1 | sort -u ;;
        link:server | loss:server | capture:server) echo '+x -x +y -y +z -z' ;;
        link:behind) echo 'up down' ;;
        loss:behind) echo 'all none 5%' ;;
        fail: | restore: | leave: | pause: | link: | loss: | capture: | exec: | shell: | status: | logs:*) _cwlab_servers ;;
    esac
}

_cubeway_program()
{
    local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} all=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        all="$(_cubeway_commands "$program") --help --version"
    elif [[ ${COMP_WORDS[1]} == help ]]; then
        all=$(_cubeway_commands "$program")
    elif [[ $cur == -* ]]; then
        all=$(_cubeway_options "$program" "${COMP_WORDS[1]}")
    elif [[ $program == *cwlab && $prev == --name ]]; then
        all=$(_cwlab_labs | cut -d ' ' -f 1)
    elif [[ $program == *cwlab && $prev != --* ]]; then
        all=$(_cwlab_words)
    elif [[ $prev == --* ]]; then
        all=$(_cubeway_choices "$program" "${COMP_WORDS[1]}" "$prev")
    fi
    if [[ -n $all ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$all" -- "$cur")
    elif ((COMP_CWORD > 1)); then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

complete -F _cubeway_program cwlab cwsim
