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
