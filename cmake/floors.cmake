# cubeway_folder(<name> PREFIX <include prefix> SOURCES <files> [LINKS <lower targets>] [PRIVATE_LINKS <libraries>])
#
# Makes the static library <name> of the current folder. Its headers are published as "<prefix>/x.h" and nothing else
# is, not even those of its inner folders: a view of the build tree holds a link to each header of this folder, and only
# that view is on the include path of those who link the target. `house.includes` tries what this lets through.
function(cubeway_folder name)
  cmake_parse_arguments(ARG "" "PREFIX" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_PREFIX OR NOT ARG_SOURCES)
    message(FATAL_ERROR "cubeway_folder(${name}): needs PREFIX and SOURCES, "
      "and knows nothing of '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  set(view ${CMAKE_BINARY_DIR}/views/${name})
  file(REMOVE_RECURSE ${view}) # a header that went leaves no link behind
  file(MAKE_DIRECTORY ${view}/${ARG_PREFIX})
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  foreach(header IN LISTS headers)
    get_filename_component(file ${header} NAME)
    file(CREATE_LINK ${header} ${view}/${ARG_PREFIX}/${file} SYMBOLIC)
  endforeach()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${view})
  target_compile_options(${name} PUBLIC -fmacro-prefix-map=${view}/= -fmacro-prefix-map=views/${name}/=)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  if(CUBEWAY_WHOLE_PROGRAMS)
    target_compile_options(${name} PRIVATE -flto -ffat-lto-objects)
  endif()
  if(TARGET cubeway_profile)
    add_dependencies(${name} cubeway_profile)
  endif()
endfunction()

# cubeway_whole_program(<executable>)
#
# Optimised at link time, across the floors: for programs that are run for their speed. Everything else, tests first,
# links the machine code that the libraries hold beside (cmake/options.cmake).
function(cubeway_whole_program name)
  if(CUBEWAY_WHOLE_PROGRAMS)
    target_link_options(${name} PRIVATE -flto=auto)
  endif()
endfunction()
