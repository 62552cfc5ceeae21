/* build.h - what this program was made of. */
#ifndef GRADUS_TOOL_BUILD_H
#define GRADUS_TOOL_BUILD_H

const char *build_commit(void);   /* as git describes the sources: "v0.2.0-3-g1a2b3c4d5e6f-dirty"; "unknown" */
const char *build_compiler(void); /* "gcc 12.2.0" */

#endif
