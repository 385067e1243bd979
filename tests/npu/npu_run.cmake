add_executable(npu_run ${CMAKE_CURRENT_LIST_DIR}/npu_run.cpp)
target_link_libraries(npu_run PRIVATE thimble_options thimble_ethos_u_sim)
