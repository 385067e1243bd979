# SPDX-License-Identifier: Apache-2.0
# Tests the command line, and the bare-metal example, with a stand-in for Nordic's SDK.
if(NOT THIMBLE_TESTS)
  return()
endif()
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME axon_vendor_cli_test
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_test.py $<TARGET_FILE:thimble>
            ${CMAKE_SOURCE_DIR} $<TARGET_FILE:axon_standin_compiler>)
  set_tests_properties(axon_vendor_cli_test PROPERTIES LABELS unit TIMEOUT 900)
  if(ARM_CXX)
    set_tests_properties(axon_vendor_cli_test PROPERTIES ENVIRONMENT THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
  endif()
endif()
