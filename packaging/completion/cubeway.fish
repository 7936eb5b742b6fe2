# SPDX-License-Identifier: Apache-2.0
#
# cubeway.fish - completion of cwctl, cwlab, cwsim and cubewayd for fish. The programs say themselves what may come next
# (`PROGRAM complete WORDS.. WORD`); this only asks. It is installed once under the name of each program.

function __cubeway_complete
    set -l words (commandline -opc) # without their quotes and backslashes
    set -l cur (commandline -ct | string replace -r '^["\']' '')
    set words[1] (string replace -r '^~/' "$HOME/" -- $words[1])
    for line in ($words[1] complete $words[2..-1] "$cur" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$cur"
        else
            echo $line
        end
    end
end

for program in cwctl cwlab cwsim cubewayd
    complete -c $program -f -a '(__cubeway_complete)'
end
