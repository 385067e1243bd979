# SPDX-License-Identifier: Apache-2.0
thimble_test(eval_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/eval_arithmetic_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_convolution_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_functions_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_graph_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_image_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_ops_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_reduce_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_softmax_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/eval_support.cpp
  DEPS test_graphs thimble_eval
  APART eval_ops_test.cpp eval_reduce_test.cpp
  LABELS unit fast)
