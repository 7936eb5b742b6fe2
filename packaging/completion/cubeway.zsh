#compdef cwctl cwlab cwsim cubewayd
# SPDX-License-Identifier: Apache-2.0
#
# cubeway.zsh - completion of cwctl, cwlab, cwsim and cubewayd for zsh. The programs say themselves what may come next
# (`PROGRAM complete WORDS.. WORD`); this only asks. It is installed once under the name of each program
# (_cwctl and so on), and each of these completes all of them.

local -a all names helps
local line program=${(Q)words[1]}

program=${program/#\~\//$HOME/}
# (Q) takes quotes and backslashes away; PREFIX is what stands before the cursor, without an open quote.
all=("${(@f)$($program complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
for line in $all; do
    if [[ $line == :files ]]; then
        _files
    elif [[ -n $line ]]; then
        names+=("${line%%$'\t'*}")
        if [[ $line == *$'\t'* ]]; then
            helps+=("${line%%$'\t'*} -- ${line#*$'\t'}")
        else
            helps+=("$line")
        fi
    fi
done
((${#names})) && compadd -l -d helps -a names
