# SPDX-License-Identifier: Apache-2.0
# Tests network, notebook and application of each example for the Nordic AXON.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  foreach(example hello_axon multi_layer simple_rnn anomaly image_cnn keywords)
    add_test(NAME example_nordic_${example}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/nordic_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble> ${example})
    set_tests_properties(example_nordic_${example} PROPERTIES LABELS e2e TIMEOUT 300
                         ENVIRONMENT THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
  endforeach()
  add_test(NAME example_zephyr_module
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/zephyr_module_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble>)
  set_tests_properties(example_zephyr_module PROPERTIES LABELS e2e TIMEOUT 300)
endif()
add_test(NAME example_nordic_dockerfile COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/dockerfile_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(example_nordic_dockerfile PROPERTIES LABELS "unit;fast")
add_test(NAME example_nordic_board COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/nordic_board_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(example_nordic_board PROPERTIES LABELS e2e TIMEOUT 120)
