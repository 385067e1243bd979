# SPDX-License-Identifier: Apache-2.0
# Runs the program with calls of the C library that fail: output files must be old or complete, and the exit code right.
if(TARGET thimble AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT THIMBLE_SANITIZE)
  add_library(fail_call MODULE ${CMAKE_CURRENT_LIST_DIR}/fail_call.cpp)
  target_link_libraries(fail_call PRIVATE thimble_options ${CMAKE_DL_LIBS})
  add_test(NAME faults COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/faults_test.py $<TARGET_FILE:thimble> $<TARGET_FILE:fail_call>
                               ${CMAKE_SOURCE_DIR})
  set_tests_properties(faults PROPERTIES LABELS e2e TIMEOUT 600)
  add_test(NAME signals COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/signals_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(signals PROPERTIES LABELS "e2e;fast" TIMEOUT 120)
endif()

if(TARGET thimble)
  thimble_test(power_loss_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/power_loss_test.cpp
    DEPS test_runtime_files thimble_runtime thimble_formats thimble_base nlohmann_json::nlohmann_json
    LABELS e2e fast)
  if(TARGET power_loss_test)
    target_compile_definitions(power_loss_test PRIVATE THIMBLE_PROGRAM="$<TARGET_FILE:thimble>")
    add_dependencies(power_loss_test thimble)
  endif()
endif()

# It replaces operator new, forks, and prints the stack with functions of glibc.
if(NOT THIMBLE_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  thimble_test(capi_memory_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/capi_memory_test.cpp ${CMAKE_SOURCE_DIR}/src/capi/shared/thimble_c.cpp
    DEPS thimble_capi
    LABELS e2e fast)
  if(TARGET capi_memory_test)
    set_target_properties(capi_memory_test PROPERTIES ENABLE_EXPORTS ON) # the stack has names of functions
  endif()
endif()
