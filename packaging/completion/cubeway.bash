# SPDX-License-Identifier: Apache-2.0
#
# cubeway.bash - completion of cwctl, cwlab, cwsim and cubewayd for bash. The programs say themselves what may come next
# (`PROGRAM complete WORDS.. WORD`); this only asks. It is installed once under the name of each program.

# Splits a line into words as the shell does, but expands nothing: into the caller's `words`, of which the last may be
# empty. `open` becomes the quote in which the line ends, or "", and `start` how much of the last word stands before it.
_cubeway_split()
{
    local line=$1 word='' begun='' c i
    words=() open='' start=0
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $c == "$open" ]]; then
            open=''
        elif [[ $c == \\ && $open != \' && ( -z $open || ${line:i+1:1} == [\"\\\$\`] ) ]]; then
            i=$((i + 1))
            word+=${line:i:1}
            begun=1
        elif [[ -n $open ]]; then
            word+=$c
        elif [[ $c == [\"\'] ]]; then
            open=$c
            start=${#word}
            begun=1
        elif [[ $c != [[:space:]] ]]; then
            word+=$c
            begun=1
        elif [[ -n $begun ]]; then
            words+=("$word")
            word='' begun=''
        fi
    done
    words+=("$word")
}

_cubeway()
{
    local program=${COMP_WORDS[0]} all=() open start word cur before
    local -a words
    # The line is split here, for COMP_WORDS is split at = and : as well.
    _cubeway_split "${COMP_LINE:0:COMP_POINT}"
    program=${words[0]}
    [[ $program == \~/* ]] && program=$HOME/${program:2}
    cur=${words[-1]}
    COMPREPLY=()
    mapfile -t all < <("$program" complete "${words[@]:1}" 2>/dev/null)
    # bash puts candidates in the place of what stands behind the last = or : of the word, or behind an open quote.
    before=${cur%"${cur##*[=:]}"}
    [[ -n $open ]] && before=${cur:0:start}
    for word in "${all[@]}"; do
        word=${word%%$'\t'*}
        if [[ $word == :files ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${cur#"$before"}")
        else
            COMPREPLY+=("${word#"$before"}")
        fi
    done
}

complete -F _cubeway cwctl cwlab cwsim cubewayd
