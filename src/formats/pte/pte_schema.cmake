# thimble_pte_schema: interface library with the C++ header that flatc generates from program.fbs,
# "program_generated.h". It is a system include, because flatc's code causes warnings in our build.
find_program(FLATC flatc REQUIRED)
set(pte_schema_source ${CMAKE_CURRENT_LIST_DIR}/program.fbs)
set(pte_schema_folder ${CMAKE_BINARY_DIR}/generated/pte)
set(pte_schema_header ${pte_schema_folder}/program_generated.h)

add_custom_command(
  OUTPUT ${pte_schema_header}
  COMMAND ${FLATC} --cpp --scoped-enums -o ${pte_schema_folder} ${pte_schema_source}
  DEPENDS ${pte_schema_source}
  COMMENT "flatc program.fbs"
  VERBATIM)
add_custom_target(thimble_pte_schema_header DEPENDS ${pte_schema_header})

add_library(thimble_pte_schema INTERFACE)
target_include_directories(thimble_pte_schema SYSTEM INTERFACE ${pte_schema_folder})
add_dependencies(thimble_pte_schema thimble_pte_schema_header)
