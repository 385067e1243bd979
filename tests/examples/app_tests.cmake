# SPDX-License-Identifier: Apache-2.0
# Builds and runs the example application outside the tree; requires the program, the cross compiler and the emulator.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  set(options_cortex-m4)
  set(options_cortex-m33 -DMAIN=main.cpp)
  set(options_cortex-m55 -DKERNEL_CODE=ram)
  foreach(core cortex-m4 cortex-m33 cortex-m55)
    add_test(NAME example_app_${core}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/app_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${core}
                     ${options_${core}})
    set_tests_properties(example_app_${core} PROPERTIES LABELS e2e TIMEOUT 300)
  endforeach()
  set(THIMBLE_FREERTOS_KERNEL_PATH "" CACHE PATH "A checkout of FreeRTOS-Kernel, for the tests")
  foreach(core cortex-m0plus cortex-m4 cortex-m33 cortex-m55)
    add_test(NAME example_app_freertos_${core}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/app_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${core}
                     -DFREERTOS_KERNEL_PATH=${THIMBLE_FREERTOS_KERNEL_PATH})
    set_tests_properties(example_app_freertos_${core} PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 300 ENVIRONMENT
                         THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
  endforeach()
  add_test(NAME examples_copied
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/copied_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(examples_copied PROPERTIES LABELS wheel TIMEOUT 300 ENVIRONMENT
                       THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
  # The first core's application compiles runtime and kernels; the others link those of firmware/.
  set_tests_properties(example_app_cortex-m33 example_app_cortex-m55 PROPERTIES
                       ENVIRONMENT THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
endif()
# Tests a build that includes kernels_used.cmake; the vendor's converter is a stand-in.
if(THIMBLE_TESTS AND TARGET thimble AND ARM_CXX)
  string(REGEX REPLACE "g\\+\\+$" "" arm_prefix ${ARM_CXX})
  add_test(NAME kernels_used
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/kernels_used_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}
                   ${CMAKE_COMMAND} ${arm_prefix} $<TARGET_FILE:neutron_standin_converter>
                   ${CMAKE_BINARY_DIR}/tests/extra_target/thimble ${CMAKE_BINARY_DIR}/firmware)
  set_tests_properties(kernels_used PROPERTIES LABELS e2e TIMEOUT 600)
endif()
# Runs the commands of examples/ethos_u/README.md.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  add_test(NAME example_ethos_u
           COMMAND sh ${CMAKE_SOURCE_DIR}/examples/ethos_u/walkthrough.sh $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}/ethos_u_walk)
  set_tests_properties(example_ethos_u PROPERTIES LABELS "e2e;fast" TIMEOUT 300)
endif()
