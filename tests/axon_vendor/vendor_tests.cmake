# The command line with Nordic's SDK, played by a stand-in, and the bare-metal example with it.
if(NOT THIMBLE_TESTS)
  return()
endif()
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME axon_vendor_cli_test
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_test.py $<TARGET_FILE:thimble>
            ${CMAKE_SOURCE_DIR} $<TARGET_FILE:axon_standin_compiler>)
  set_tests_properties(axon_vendor_cli_test PROPERTIES LABELS unit TIMEOUT 900)
endif()
