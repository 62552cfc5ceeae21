/* build.c - see build.h. The only file that is compiled again when the commit changes. */
#include "terminal/build.h"

#include "gradus_commit.h"

const char *build_commit(void)
{
    return GRADUS_COMMIT;
}

const char *build_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}
