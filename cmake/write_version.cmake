# Writes the C++ file with version and commit of this build: cmake -DVERSION=0.1.0 -DSOURCE=FOLDER -DOUTPUT=FILE -P ...
# The commit is "unknown" if SOURCE is not the top of a git checkout, such as an unpacked archive in another project's tree.
# It contains no date and no path: two builds of one commit are equal.
find_program(GIT git)
set(commit "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --verify HEAD OUTPUT_VARIABLE head RESULT_VARIABLE failed
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REAL_PATH ${SOURCE} source)
  if(NOT failed AND top STREQUAL source)
    string(SUBSTRING ${head} 0 12 commit)
  endif()
endif()
set(text "#include \"tools/version.h\"\n\nnamespace thimble::tools {\nconst char* release_version() {\n  return \"${VERSION}\";\n}\nconst char* release_commit() {\n  return \"${commit}\";\n}\n}  // namespace thimble::tools\n")
file(WRITE ${OUTPUT} "${text}")
