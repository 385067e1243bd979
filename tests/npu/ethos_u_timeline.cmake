# SPDX-License-Identifier: Apache-2.0
add_executable(ethos_u_timeline ${CMAKE_SOURCE_DIR}/benchmarks/ethos_u_cycles/timeline.cpp)
target_link_libraries(ethos_u_timeline PRIVATE thimble_options thimble_ethos_u_model)
