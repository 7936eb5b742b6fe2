# SPDX-License-Identifier: Apache-2.0
#
# cubeway_completion(PROGRAM COMPONENT): installs the completion of a program for bash, zsh and fish, where Debian's
# shells look for it by the program's name. The files are the same for all programs (packaging/completion/).
include(GNUInstallDirs)
function(cubeway_completion program component)
  set(from ${PROJECT_SOURCE_DIR}/packaging/completion/cubeway)
  install(FILES ${from}.bash RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
  install(FILES ${from}.zsh RENAME _${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
  install(FILES ${from}.fish RENAME ${program}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
endfunction()
