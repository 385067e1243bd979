# SPDX-License-Identifier: Apache-2.0
# Tests the networks, tables and application of examples/nxp; MobileNetV2 only if its export.py was run.
if(THIMBLE_TESTS AND TARGET thimble AND ARM_CXX AND QEMU_ARM)
  set(nxp application cifarnet resnet8 dscnn_kws mobilenet_v2_tiny --beyond)
  if(EXISTS ${CMAKE_SOURCE_DIR}/build/models/mobilenet_v2/mobilenet_v2.pt2)
    list(APPEND nxp mobilenet_v2)
  endif()
  foreach(what ${nxp})
    string(REPLACE "--" "" name ${what})
    add_test(NAME example_nxp_${name}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/nxp_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble> ${what})
    set_tests_properties(example_nxp_${name} PROPERTIES LABELS e2e TIMEOUT 600
                         ENVIRONMENT THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
  endforeach()
  if(THIMBLE_TESTS)  # the stand-in is built with the tests
    add_test(NAME example_nxp_converter
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/nxp_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble> converter
                     $<TARGET_FILE:neutron_standin_converter>)
    set_tests_properties(example_nxp_converter PROPERTIES LABELS e2e TIMEOUT 600)
  endif()
endif()
