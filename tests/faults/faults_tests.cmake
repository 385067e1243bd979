# Calls of the C library that fail under the program: files are old or complete, and the exit code says so.
if(TARGET thimble AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT THIMBLE_SANITIZE)
  add_library(fail_call MODULE ${CMAKE_CURRENT_LIST_DIR}/fail_call.cpp)
  target_link_libraries(fail_call PRIVATE thimble_options ${CMAKE_DL_LIBS})
  add_test(NAME faults COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/faults_test.py $<TARGET_FILE:thimble> $<TARGET_FILE:fail_call>
                               ${CMAKE_SOURCE_DIR})
  set_tests_properties(faults PROPERTIES LABELS e2e TIMEOUT 300)
endif()
