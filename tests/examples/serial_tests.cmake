# Runs models over a serial line: on emulated boards with examples/serial_runner, and on scripted boards.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  add_test(NAME example_serial_runner
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/serial_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} $<TARGET_FILE:thimble>)
  set_tests_properties(example_serial_runner PROPERTIES LABELS e2e TIMEOUT 900)
endif()
