# SPDX-License-Identifier: Apache-2.0
# Runs models over a serial line: on emulated boards with examples/serial_runner, and on scripted boards.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  # Two entries, so that two processes can run them.
  add_test(NAME example_serial_runner
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/serial_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} $<TARGET_FILE:thimble>
                   EmulatedBoards)
  add_test(NAME serial_scripted_boards
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/serial_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} $<TARGET_FILE:thimble>
                   ScriptedBoards)
  set_tests_properties(example_serial_runner serial_scripted_boards PROPERTIES LABELS e2e TIMEOUT 900)
endif()
