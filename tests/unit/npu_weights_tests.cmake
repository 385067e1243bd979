# SPDX-License-Identifier: Apache-2.0
# Decoder (device code) and encoder (host code) of the Ethos-U's weights.
thimble_test(npu_weights_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/npu_weights_test.cpp
  DEPS thimble_ethos_u_model
  LABELS unit fast)

thimble_test(ethos_u_weights_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_weights_test.cpp ${CMAKE_CURRENT_LIST_DIR}/ethos_u_mlw_test.cpp
  DEPS thimble_engines thimble_ethos_u_model
  LABELS unit)

# Not a test: prints the table of benchmarks/ethos_u_weights/README.md.
add_executable(thimble_ethos_u_weights
  ${CMAKE_SOURCE_DIR}/benchmarks/ethos_u_weights/ethos_u_weights.cpp
  ${CMAKE_SOURCE_DIR}/benchmarks/ethos_u_weights/stream.cpp)
target_include_directories(thimble_ethos_u_weights PRIVATE ${CMAKE_SOURCE_DIR}/benchmarks/ethos_u_weights)
target_link_libraries(thimble_ethos_u_weights PRIVATE thimble_options thimble_engines thimble_ethos_u_model)
