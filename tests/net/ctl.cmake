# cwctl against a torus in one process: every command, as a table and as JSON. Needs no right and no cable.
foreach(test cmd_aggregate cmd_words cmd_capture cmd_daemon cmd_drain cmd_events
  cmd_fault cmd_feed cmd_file cmd_group cmd_job cmd_job_ask cmd_job_change cmd_key cmd_kv
  cmd_network cmd_node cmd_picture cmd_plan cmd_query cmd_servers cmd_service cmd_store cmd_top
  cmd_tunnel cmd_view cmd_watch cmd_wiring cwctl)
  cubeway_test(net.${test} LABEL net COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/test_${test}.py
    --cubewayd $<TARGET_FILE:cubewayd> --cwctl $<TARGET_FILE:cwctl> --module $<TARGET_FILE:module_hitcount>
    --lua ${PROJECT_SOURCE_DIR}/tools/wireshark/cubeway.lua)
endforeach()
if(NOT CUBEWAY_SANITIZE) # a sanitizer reports a crash in its own way
  cubeway_test(net.crash LABEL net COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/test_crash.py
    --cubewayd $<TARGET_FILE:cubewayd> --cwctl $<TARGET_FILE:cwctl> --module $<TARGET_FILE:module_careless>)
endif()
