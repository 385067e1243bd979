# SPDX-License-Identifier: Apache-2.0
thimble_test(ir_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/ir_graph_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ir_round_trip_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ir_text_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ir_type_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ir_verify_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../text/text_runner.cpp
  DEPS test_graphs
  LABELS unit fast)
