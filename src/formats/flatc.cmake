# SPDX-License-Identifier: Apache-2.0
# thimble_schema(NAME FBS): interface library NAME with the C++ header "<stem>_generated.h" that flatc
# generates from FBS. It is a system include, because flatc's code causes warnings in our build.
find_program(FLATC flatc REQUIRED)
function(thimble_schema name schema)
  get_filename_component(stem ${schema} NAME_WE)
  set(folder ${CMAKE_BINARY_DIR}/generated/${stem})
  set(header ${folder}/${stem}_generated.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${FLATC} --cpp --scoped-enums -o ${folder} ${schema}
    DEPENDS ${schema}
    COMMENT "flatc ${stem}.fbs"
    VERBATIM)
  add_custom_target(${name}_header DEPENDS ${header})
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${folder})
  add_dependencies(${name} ${name}_header)
endfunction()
