# Installs the package into a fresh prefix, builds examples/hitcount against it in both ways that
# docs/writing-a-service.md names, looks at what the modules export, and runs them. Variables: BUILD SOURCE CC NM RUN
# SCRATCH.
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT rc EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${out}\ngave ${rc}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

# A module must export its entry and nothing else, and must run.
function(try_module file)
  must(${NM} -D --defined-only --format=posix ${file})
  string(REGEX MATCHALL "[^\n]+" lines "${out}")
  list(TRANSFORM lines REPLACE " .*" "")
  if(NOT lines STREQUAL "cw_service_entry")
    message(FATAL_ERROR "${file} exports ${lines}, and should export cw_service_entry alone")
  endif()
  must(${RUN} ${file})
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
must(${CMAKE_COMMAND} --install ${BUILD} --component devel --prefix ${SCRATCH}/first)
# The package may be moved.
file(RENAME ${SCRATCH}/first ${SCRATCH}/prefix)

must(${CMAKE_COMMAND} -S ${SOURCE}/examples/hitcount -B ${SCRATCH}/build
  -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_C_COMPILER=${CC}
  "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wno-sign-conversion -Werror" -DCMAKE_BUILD_TYPE=Release)
must(${CMAKE_COMMAND} --build ${SCRATCH}/build)
must(ctest --test-dir ${SCRATCH}/build --no-tests=error)
must(${CMAKE_COMMAND} --install ${SCRATCH}/build --prefix ${SCRATCH}/prefix)
file(GLOB_RECURSE installed ${SCRATCH}/prefix/*/hitcount.so)
list(LENGTH installed count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "the example was installed as '${installed}'")
endif()
try_module(${installed})

file(GLOB_RECURSE pc ${SCRATCH}/prefix/*/cubeway.pc)
get_filename_component(pc_dir "${pc}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
must(pkg-config --cflags cubeway)
separate_arguments(cflags UNIX_COMMAND "${out}")
must(${CC} -O2 -shared ${cflags} -o ${SCRATCH}/hitcount.so ${SOURCE}/examples/hitcount/hitcount.c)
try_module(${SCRATCH}/hitcount.so)
must(pkg-config --cflags --libs cubeway-testing)
separate_arguments(flags UNIX_COMMAND "${out}")
must(${CC} -O2 -o ${SCRATCH}/test_hitcount ${SOURCE}/examples/hitcount/test_hitcount.c
  ${SOURCE}/examples/hitcount/hitcount.c ${flags})
must(${SCRATCH}/test_hitcount)

# The second example, which shares nothing with the first.
must(${CMAKE_COMMAND} -S ${SOURCE}/examples/lock -B ${SCRATCH}/lock-build -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
  -DCMAKE_C_COMPILER=${CC} "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wno-sign-conversion -Werror")
must(${CMAKE_COMMAND} --build ${SCRATCH}/lock-build)
must(ctest --test-dir ${SCRATCH}/lock-build --no-tests=error)
