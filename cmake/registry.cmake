# Engines are rows: a folder src/target/<engine>/ has a target.cmake that says what its engine is
# called in C++. The lists that the program reads are written from the rows when the build is
# configured, of this tree and of the folders of THIMBLE_EXTRA_TARGETS, each of which has the tree's
# own layout: src/target/<engine>/, targets/*.toml and so on (docs/adding-a-target.md).
set(THIMBLE_EXTRA_TARGETS "" CACHE STRING "Folders outside the tree with further engines and parts")
foreach(root ${THIMBLE_EXTRA_TARGETS})
  if(NOT IS_ABSOLUTE ${root} OR NOT IS_DIRECTORY ${root})
    message(FATAL_ERROR "THIMBLE_EXTRA_TARGETS: ${root}: the absolute path of a folder expected")
  endif()
endforeach()

# An example of such a folder, brought outside of the tree for the tests.
if(THIMBLE_TESTS)
  set(THIMBLE_EXAMPLE_TARGET ${CMAKE_BINARY_DIR}/outside/abacus)
  file(GLOB_RECURSE example CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/extra_target/abacus/*)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${example})
  file(REMOVE_RECURSE ${THIMBLE_EXAMPLE_TARGET})
  file(COPY ${CMAKE_SOURCE_DIR}/tests/extra_target/abacus DESTINATION ${CMAKE_BINARY_DIR}/outside)
endif()

# thimble_engine(NAME HEADER file [DEVICES file] [RUNNER core...]): a row.
#   HEADER   of src/, declares std::vector<EngineName> thimble::target::NAME::engines()
#   DEVICES  of src/, declares std::vector<DeviceKind> thimble::hostrun::NAME_devices(): what runs
#            the engine's delegate calls on this machine
#   RUNNER   emulated cores that get an image with firmware/apps/runner-NAME/, for folders outside
function(thimble_engine name)
  cmake_parse_arguments(arg "" "HEADER;DEVICES" "RUNNER" ${ARGN})
  if(NOT arg_HEADER OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: thimble_engine(NAME HEADER file [DEVICES file]"
                        " [RUNNER core...]) expected")
  endif()
  foreach(header ${arg_HEADER} ${arg_DEVICES})
    if(NOT EXISTS ${engine_root}/src/${header})
      message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: no file ${engine_root}/src/${header}")
    endif()
  endforeach()
  get_property(engines GLOBAL PROPERTY thimble_engines_of_registry)
  if(name IN_LIST engines)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: there is an engine ${name} already")
  endif()
  set_property(GLOBAL APPEND PROPERTY thimble_engines_of_registry ${name})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_root ${engine_root})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_header ${arg_HEADER})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_devices ${arg_DEVICES})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_runner ${arg_RUNNER})
endfunction()

# Reads the rows of folders; answers the engines' names.
function(thimble_engine_rows out)
  set_property(GLOBAL PROPERTY thimble_engines_of_registry)
  foreach(engine_root ${ARGN})
    file(GLOB rows CONFIGURE_DEPENDS ${engine_root}/engines/*/engine.cmake)
    if(NOT rows)
      message(FATAL_ERROR "${engine_root}: no engines/<engine>/engine.cmake in this folder")
    endif()
    foreach(row ${rows})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${row})
      include(${row})
    endforeach()
  endforeach()
  get_property(engines GLOBAL PROPERTY thimble_engines_of_registry)
  set(${out} ${engines} PARENT_SCOPE)
endfunction()

# Adds to `target` sources from outside the tree, which include as those of the tree do: ROOTS are
# where their own includes begin. FLAGS: of the compiler.
function(thimble_outside_sources target)
  cmake_parse_arguments(arg "" "" "ROOTS;SOURCES;FLAGS" ${ARGN})
  set(folders)
  foreach(root ${arg_ROOTS})
    list(APPEND folders ${root} ${root}/src)
  endforeach()
  if(arg_SOURCES)
    target_sources(${target} PRIVATE ${arg_SOURCES})
    set_source_files_properties(${arg_SOURCES} PROPERTIES INCLUDE_DIRECTORIES "${folders}"
                                                          COMPILE_OPTIONS "${arg_FLAGS}")
  endif()
endfunction()

# Writes OUT: a function RESULT of NAMESPACE that lists functions of type TYPE.
function(thimble_write_rows out namespace own_header result type includes rows)
  file(CONFIGURE OUTPUT ${out} CONTENT [[
#include "@own_header@"

@includes@
namespace @namespace@ {

std::span<@type@* const> @result@() {
  static constexpr @type@* kRows[] = {
@rows@  };
  return kRows;
}

}  // namespace @namespace@
]] @ONLY)
endfunction()

# Adds to `target` the list of the engines of ROOTS, and of their parts.
function(thimble_engine_registry target)
  cmake_parse_arguments(arg "" "" "ROOTS" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry)
  thimble_engine_rows(engines ${arg_ROOTS})
  set(includes)
  set(rows)
  foreach(engine ${engines})
    get_property(header GLOBAL PROPERTY thimble_engine_${engine}_header)
    string(APPEND includes "#include \"${header}\"\n")
    string(APPEND rows "    &${engine}::engines,\n")
  endforeach()
  thimble_write_rows(${folder}/engine_rows.cpp thimble::target target/registry.h engine_rows
                     EngineList "${includes}" "${rows}")

  # The parts are data of the program: every file of targets/ as a string.
  set(parts)
  set(names)
  foreach(root ${arg_ROOTS})
    file(GLOB own CONFIGURE_DEPENDS ${root}/targets/*.toml)
    list(APPEND parts ${own})
  endforeach()
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
  thimble_outside_sources(${target} ROOTS ${arg_ROOTS}
                          SOURCES ${folder}/engine_rows.cpp ${folder}/parts_text.cpp)
endfunction()

# Adds to `target` the list of what runs the delegate calls of the engines of ROOTS.
function(thimble_device_registry target)
  cmake_parse_arguments(arg "" "" "ROOTS" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry)
  thimble_engine_rows(engines ${arg_ROOTS})
  set(includes)
  set(rows)
  foreach(engine ${engines})
    get_property(header GLOBAL PROPERTY thimble_engine_${engine}_devices)
    if(header)
      string(APPEND includes "#include \"${header}\"\n")
      string(APPEND rows "    &${engine}_devices,\n")
    endif()
  endforeach()
  thimble_write_rows(${folder}/device_rows.cpp thimble::hostrun hostrun/device.h device_rows
                     DeviceList "${includes}" "${rows}")
  thimble_outside_sources(${target} ROOTS ${arg_ROOTS} SOURCES ${folder}/device_rows.cpp)
endfunction()

# Sources of ROOTS by world, as the tree's own libraries have them.
function(thimble_outside_compiler target)
  foreach(root ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/target/*.cpp)
    thimble_outside_sources(${target} ROOTS ${root} SOURCES ${sources})
  endforeach()
endfunction()
function(thimble_outside_hostrun target)
  foreach(root ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/hostrun/*.cpp)
    thimble_outside_sources(${target} ROOTS ${root} SOURCES ${sources})
  endforeach()
endfunction()
# Device code: what compiler and device share, models, delegates of the runtime.
function(thimble_outside_device name)
  set(all)
  foreach(root ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/npu/*.cpp ${root}/runtime/*.cpp)
    list(APPEND all ${sources})
  endforeach()
  if(NOT all)
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} STATIC)
  target_link_libraries(${name} PUBLIC thimble_options thimble_runtime)
  thimble_outside_sources(${name} ROOTS ${ARGN} SOURCES ${all} FLAGS -fno-exceptions -fno-rtti)
endfunction()
