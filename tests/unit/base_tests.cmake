# SPDX-License-Identifier: Apache-2.0
thimble_test(base_process_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/base_process_test.cpp DEPS thimble_base LABELS unit fast)
thimble_test(base_text_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/base_text_test.cpp DEPS thimble_base LABELS unit fast)
