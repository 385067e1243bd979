# SPDX-License-Identifier: Apache-2.0
# thimble_install_sbom(DESTINATION): writes and installs thimble.cdx.json, a list in the CycloneDX format (version 1.5) of the
# code of others in an installation: name, version and licence of each row of THIMBLE_THIRD_PARTY (licenses.cmake), and nanobind
# in a wheel. A version is that of the installed Debian package; it is left out on other systems. The device libraries contain
# no code of others: their list, next to their sources, has no component.
include(cmake/licenses.cmake)

function(thimble_sbom_component result name version license)
  set(text "    {\n      \"type\": \"library\",\n      \"name\": \"${name}\",\n")
  if(version)
    string(APPEND text "      \"version\": \"${version}\",\n")
  endif()
  if(license MATCHES " ")
    set(entry "\"expression\": \"${license}\"")
  elseif(license MATCHES "^LicenseRef-")
    set(entry "\"license\": { \"name\": \"${license}\" }")
  else()
    set(entry "\"license\": { \"id\": \"${license}\" }")
  endif()
  set(${result} "${text}      \"licenses\": [{ ${entry} }]\n    }" PARENT_SCOPE)
endfunction()

function(thimble_install_sbom destination)
  find_program(DPKG_QUERY dpkg-query)
  set(components)
  foreach(row ${THIMBLE_THIRD_PARTY})
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 package)
    list(GET row 1 name)
    list(GET row 2 license)
    set(version)
    if(DPKG_QUERY)
      execute_process(COMMAND ${DPKG_QUERY} -W -f "\${Version}" ${package} OUTPUT_VARIABLE version ERROR_QUIET)
    endif()
    thimble_sbom_component(component "${name}" "${version}" "${license}")
    list(APPEND components "${component}")
  endforeach()
  if(nanobind_DIR)
    file(GLOB version ${nanobind_DIR}/../../nanobind-*.dist-info)
    string(REGEX REPLACE ".*nanobind-(.*)[.]dist-info" "\\1" version "${version}")
    thimble_sbom_component(component nanobind "${version}" BSD-3-Clause)
    list(APPEND components "${component}")
    thimble_sbom_component(component robin-map "" MIT)
    list(APPEND components "${component}")
  endif()
  string(JOIN ",\n" components ${components})
  set(file ${CMAKE_BINARY_DIR}/generated/thimble.cdx.json)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [=[{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {
    "component": {
      "type": "application",
      "name": "thimble-ml",
      "version": "@PROJECT_VERSION@",
      "licenses": [{ "license": { "id": "Apache-2.0" } }]
    }
  },
  "components": [
@components@
  ]
}
]=])
  install(FILES ${file} DESTINATION ${destination})
  configure_file(packaging/thimble_device.cdx.json.in ${CMAKE_BINARY_DIR}/generated/device/thimble.cdx.json @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/generated/device/thimble.cdx.json DESTINATION ${destination}/device COMPONENT device)
endfunction()
