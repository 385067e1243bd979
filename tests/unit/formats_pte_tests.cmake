# SPDX-License-Identifier: Apache-2.0
thimble_test(formats_pte_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/formats_pte_bytes_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/formats_pte_malformed_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/formats_pte_schema_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/formats_pte_text_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../text/text_runner.cpp
  DEPS thimble_formats thimble_pte_schema
  APART formats_pte_text_test.cpp
  LABELS unit fast)
