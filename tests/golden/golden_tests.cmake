# SPDX-License-Identifier: Apache-2.0
# Files that earlier versions wrote, tests/data/golden.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  add_test(NAME golden COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/golden_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(golden PROPERTIES LABELS "e2e;fast" TIMEOUT 300)
endif()
