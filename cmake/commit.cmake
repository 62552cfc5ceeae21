# Writes OUTPUT, a header with the commit that the sources in SOURCE stand at, where it changed: run at every build, so
# that a build that only goes on is right too, and nothing is compiled again while the commit is the same.
find_program(git git)
set(commit unknown)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 RESULT_VARIABLE failed
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
set(text "#define GRADUS_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} ${text})
endif()
