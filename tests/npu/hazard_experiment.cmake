add_executable(hazard_experiment ${CMAKE_CURRENT_LIST_DIR}/hazard_experiment.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/npu_case.cpp)
target_link_libraries(hazard_experiment PRIVATE thimble_options thimble_ethos_u_sim)
