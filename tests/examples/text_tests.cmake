# SPDX-License-Identifier: Apache-2.0
# Writes text with a small Llama whose keys and values the runtime keeps.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  add_test(NAME example_text
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/text_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(example_text PROPERTIES LABELS e2e TIMEOUT 300 ENVIRONMENT
                       THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware)
endif()
