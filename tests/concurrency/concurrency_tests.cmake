# SPDX-License-Identifier: Apache-2.0
# Models in several threads, in one arena and in an interrupt handler (docs/runtime.md). `make soak` and `make threads` run
# more calls, and with sanitizers.
thimble_test(concurrency_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/threads_test.cpp
  DEPS thimble_hostrun thimble_kernels thimble_runtime
  LABELS unit fast)
if(TARGET firmware AND QEMU_ARM)
  add_test(NAME concurrency_firmware
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/soak_firmware_test.py ${QEMU_ARM} ${CMAKE_BINARY_DIR}/firmware ${CMAKE_SOURCE_DIR})
  set_tests_properties(concurrency_firmware PROPERTIES LABELS "firmware;fast" TIMEOUT 300)
endif()
