thimble_test(partition_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/partition_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ir_random_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../conformance/random_integer_elementwise.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../conformance/random_integer_graph.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../conformance/random_integer_image.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../conformance/random_integer_move.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../conformance/random_integer_product.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../conformance/random_integer_reduce.cpp
  DEPS thimble_partition thimble_eval
  LABELS unit)
