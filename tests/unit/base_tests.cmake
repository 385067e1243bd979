# SPDX-License-Identifier: Apache-2.0
if(NOT WIN32)  # messages of the system
  thimble_test(base_files_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/base_files_test.cpp DEPS thimble_base LABELS unit fast)
endif()
thimble_test(base_process_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/base_process_test.cpp DEPS thimble_base LABELS unit fast)
thimble_test(base_text_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/base_text_test.cpp DEPS thimble_base LABELS unit fast)
