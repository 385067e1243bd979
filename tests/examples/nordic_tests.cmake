# Tests network, notebook and application of each example for the Nordic AXON.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  foreach(example hello_axon multi_layer simple_rnn anomaly image_cnn keywords)
    add_test(NAME example_nordic_${example}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/nordic_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble> ${example})
    set_tests_properties(example_nordic_${example} PROPERTIES LABELS e2e TIMEOUT 300 FIXTURES_REQUIRED nordic_device
                         ENVIRONMENT THIMBLE_DEVICE_LIBRARIES=${CMAKE_BINARY_DIR}/tests/device_libraries)
  endforeach()
  # The first example compiles runtime and kernels; the others link its library.
  set_tests_properties(example_nordic_hello_axon PROPERTIES FIXTURES_REQUIRED nordic_no_device FIXTURES_SETUP nordic_device)
  add_test(NAME example_nordic_no_device
           COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/tests/device_libraries)
  set_tests_properties(example_nordic_no_device PROPERTIES LABELS e2e FIXTURES_SETUP nordic_no_device)
  add_test(NAME example_zephyr_module
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/zephyr_module_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble>)
  set_tests_properties(example_zephyr_module PROPERTIES LABELS e2e TIMEOUT 300)
endif()
add_test(NAME example_nordic_dockerfile COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/dockerfile_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(example_nordic_dockerfile PROPERTIES LABELS "unit;fast")
