# Profile-guided optimisation of cwsim (gcc, release): `cmake --preset pgo`. Before anything else the build makes a
# cwsim that counts, in train/ of the build folder, and has it simulate what simulations are mostly made of: a torus
# under failures, and one at full load. What it counted lies in profile/, and every folder of the tree is compiled by
# it.
#
# The profile is made once. After larger changes remove the build folder; gcc says which functions have changed since.
option(CUBEWAY_PGO "compile by a profile of training runs of cwsim (gcc, release)" OFF)
set(CUBEWAY_PROFILE_TO "" CACHE PATH "of the training build: where its programs leave their counts")
mark_as_advanced(CUBEWAY_PROFILE_TO)

if((CUBEWAY_PGO OR CUBEWAY_PROFILE_TO) AND NOT CUBEWAY_WHOLE_PROGRAMS)
  message(FATAL_ERROR "a profile is for release builds with gcc: use `cmake --preset pgo`")
endif()

# Counts are found by the names of objects from the top of the build folder on: the same names in both builds.
if(CUBEWAY_PROFILE_TO)
  add_compile_options(-fprofile-generate=${CUBEWAY_PROFILE_TO} -fprofile-prefix-path=${CMAKE_BINARY_DIR})
  add_link_options(-fprofile-generate=${CUBEWAY_PROFILE_TO})
elseif(CUBEWAY_PGO)
  set(profile ${CMAKE_BINARY_DIR}/profile)
  set(train ${CMAKE_BINARY_DIR}/train)
  # What training does not run (the daemon, the services that no player uses) has no counts, and is compiled as always.
  add_compile_options(-fprofile-use=${profile} -fprofile-prefix-path=${CMAKE_BINARY_DIR} -fprofile-partial-training
    -Wno-missing-profile -Wno-error=coverage-mismatch)
  add_custom_command(OUTPUT ${profile}/trained
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${train} -G Ninja -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCUBEWAY_TESTS=OFF -DCUBEWAY_CCACHE=OFF -DCUBEWAY_PROFILE_TO=${profile}
    COMMAND ${CMAKE_COMMAND} --build ${train} --target cwsim
    COMMAND ${train}/bin/cwsim churn --dims 6x6x6 --churn 15 --seconds 1
    COMMAND ${train}/bin/cwsim throughput --dims 4x4x4
    COMMAND ${CMAKE_COMMAND} -E touch ${profile}/trained
    COMMENT "training: a cwsim that counts is built and run"
    USES_TERMINAL VERBATIM)
  add_custom_target(cubeway_profile DEPENDS ${profile}/trained)
endif()
