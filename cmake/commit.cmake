# cmake -P commit.cmake -DTOP=<tree> -DOUT=<file>: writes what this tree is, as `git describe` says it, into a C file,
# and touches the file only when it says something new: a build compiles nothing because of it but when the commit has
# changed.
find_program(GIT git)
set(commit unknown)
if(GIT AND EXISTS ${TOP}/.git)
  execute_process(COMMAND ${GIT} -C ${TOP} describe --always --tags --dirty --abbrev=12
    OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND said MATCHES "^[A-Za-z0-9._+/-]+$")
    set(commit ${said})
  endif()
endif()
string(CONCAT text "/* Made by cmake/commit.cmake. */\nconst char *report_commit(void);\n\n"
  "const char *report_commit(void)\n{\n    return \"${commit}\";\n}\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
