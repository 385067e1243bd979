# SPDX-License-Identifier: Apache-2.0
thimble_test(part_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/part_test.cpp ${CMAKE_CURRENT_LIST_DIR}/named_parts_test.cpp
  DEPS thimble_engines thimble_quant
  LABELS unit fast)
