# Of the Ethos-U's compiler: blocks, emission, schedules.
thimble_test_library(test_ethos_u_programs SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_programs.cpp
                     DEPS thimble_engines thimble_ethos_u_model)
foreach(part block emit schedule)
  thimble_test(ethos_u_${part}_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_${part}_test.cpp
    DEPS test_ethos_u_programs thimble_engines thimble_ethos_u_model thimble_ethos_u_text
    LABELS unit)
endforeach()
