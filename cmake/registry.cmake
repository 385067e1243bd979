# Engines are rows: a folder src/target/<engine>/ has a target.cmake that says what its engine is
# called in C++. The lists that the program reads are written from the rows when the build is
# configured, of this tree and of the folders of THIMBLE_EXTRA_TARGETS, each of which has the tree's
# own layout: src/target/<engine>/, targets/*.toml and so on (docs/adding-a-target.md).
set(THIMBLE_EXTRA_TARGETS "" CACHE STRING "Folders outside the tree with further engines and parts")

# thimble_engine(NAME HEADER file): a row. The header declares
# std::vector<EngineName> thimble::target::NAME::engines().
function(thimble_engine name)
  cmake_parse_arguments(arg "" "HEADER" "" ${ARGN})
  if(NOT arg_HEADER OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: thimble_engine(NAME HEADER file) expected")
  endif()
  if(NOT EXISTS ${engine_root}/src/${arg_HEADER})
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: no file ${engine_root}/src/${arg_HEADER}")
  endif()
  get_property(engines GLOBAL PROPERTY thimble_engines_of_registry)
  if(name IN_LIST engines)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: there is an engine ${name} already")
  endif()
  set_property(GLOBAL APPEND PROPERTY thimble_engines_of_registry ${name})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_header ${arg_HEADER})
endfunction()

# Reads the rows of ROOTS; answers the engines' names.
function(thimble_engine_rows out)
  set_property(GLOBAL PROPERTY thimble_engines_of_registry)
  foreach(engine_root ${ARGN})
    file(GLOB rows CONFIGURE_DEPENDS ${engine_root}/src/target/*/target.cmake)
    if(NOT rows)
      message(FATAL_ERROR "${engine_root}: no src/target/<engine>/target.cmake in this folder")
    endif()
    foreach(row ${rows})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${row})
      include(${row})
    endforeach()
  endforeach()
  get_property(engines GLOBAL PROPERTY thimble_engines_of_registry)
  set(${out} ${engines} PARENT_SCOPE)
endfunction()

# Lets `sources`, in folders outside the tree, include as those of the tree do.
function(thimble_extra_sources target)
  set(folders)
  foreach(root ${THIMBLE_EXTRA_TARGETS})
    list(APPEND folders ${root} ${root}/src)
  endforeach()
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES INCLUDE_DIRECTORIES "${folders}")
endfunction()

# Adds to `target` the lists of engines and parts of ROOTS.
function(thimble_registry target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry)
  thimble_engine_rows(engines ${ARGN})
  set(includes)
  set(rows)
  foreach(engine ${engines})
    get_property(header GLOBAL PROPERTY thimble_engine_${engine}_header)
    string(APPEND includes "#include \"${header}\"\n")
    string(APPEND rows "    &${engine}::engines,\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/engine_rows.cpp CONTENT [[
#include "target/registry.h"

@includes@
namespace thimble::target {

std::span<EngineList* const> engine_rows() {
  static constexpr EngineList* kRows[] = {
@rows@  };
  return kRows;
}

}  // namespace thimble::target
]] @ONLY)

  # The parts are data of the program: every file of targets/ as a string.
  set(parts)
  foreach(root ${ARGN})
    file(GLOB own CONFIGURE_DEPENDS ${root}/targets/*.toml)
    list(APPEND parts ${own})
  endforeach()
  set(names)
  foreach(part ${parts})
    get_filename_component(name ${part} NAME_WE)
    if(name IN_LIST names)
      message(FATAL_ERROR "${part}: there is a part ${name} already")
    endif()
    list(APPEND names ${name})
  endforeach()
  add_custom_command(OUTPUT ${folder}/parts_text.cpp
    COMMAND ${CMAKE_COMMAND} -DOUT=${folder}/parts_text.cpp "-DPARTS=${parts}"
            -P ${CMAKE_SOURCE_DIR}/cmake/parts_text.cmake
    DEPENDS ${parts} ${CMAKE_SOURCE_DIR}/cmake/parts_text.cmake VERBATIM
    COMMENT "Embedding the parts of ${target}")
  thimble_extra_sources(${target} ${folder}/engine_rows.cpp ${folder}/parts_text.cpp)
endfunction()
