# SPDX-License-Identifier: Apache-2.0
#
# cubeway.bash - completion of cwctl, cwlab, cwsim and cubewayd for bash. The programs say themselves what may come next
# (`PROGRAM complete WORDS.. WORD`); this only asks. It is installed once under the name of each program.

_cubeway()
{
    local program=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} all=() word cur before
    local -a words
    # The line is split here, for COMP_WORDS is split at = and : as well.
    read -ra words <<<"$line"
    [[ $line == *' ' ]] && words+=('')
    cur=${words[-1]-}
    COMPREPLY=()
    mapfile -t all < <("$program" complete "${words[@]:1}" 2>/dev/null)
    # bash puts candidates in the place of what stands behind the last = or : of the word.
    before=${cur%"${cur##*[=:]}"}
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
