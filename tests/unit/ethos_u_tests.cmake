# Of the Ethos-U's compiler: blocks, emission, schedules.
set(ethos_u_programs ${CMAKE_CURRENT_LIST_DIR}/ethos_u_programs.cpp)
foreach(part block emit schedule)
  thimble_test(ethos_u_${part}_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_${part}_test.cpp ${ethos_u_programs}
    DEPS thimble_target thimble_ethos_u_sim thimble_ethos_u_text
    LABELS unit)
endforeach()
