# SPDX-License-Identifier: Apache-2.0
# The Zephyr module under twister, with the Zephyr of ZEPHYR_BASE.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  add_test(NAME zephyr_twister
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/twister_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} $<TARGET_FILE:thimble>)
  set_tests_properties(zephyr_twister PROPERTIES LABELS e2e TIMEOUT 3600 SKIP_RETURN_CODE 77)
endif()
