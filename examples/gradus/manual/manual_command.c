/* manual_command.c - gradus man and gradus completion. */
#include <string.h>

#include "manual/manual.h"
#include "terminal/output.h"

typedef struct {
    const char *into;
} man_settings;

/* --- all of them, as they are installed --------------------------------------------------------------------------- */

static const struct {
    const char *name, *file; /* of the shell; below share/ */
    void (*print)(FILE *f);
} shells[] = {
    {"bash", "bash-completion/completions/gradus", complete_bash},
    {"zsh", "zsh/site-functions/_gradus", complete_zsh},
    {"fish", "fish/vendor_completions.d/gradus.fish", complete_fish},
    {NULL, NULL, NULL},
};

/* Opens a file below folder, whose own folder is made. Returns 0 or an exit code, complained of. */
static int open_below(output *out, const char *folder, const char *file)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    *strrchr(path, '/') = '\0';
    int code = folder_make(path, "man");
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return code ? code : output_open(out, path, "man");
}

static int write_page(const char *folder, const gradus_command *c)
{
    char file[128];
    output out;
    snprintf(file, sizeof file, "man/man1/gradus%s%s.1", c ? "-" : "", c ? c->name : "");
    for (char *f = file; *f; f++)
        *f = *f == ' ' ? '-' : *f;
    int code = open_below(&out, folder, file);
    if (code)
        return code;
    man_print(out.file, c);
    return output_commit(&out, "man");
}

static int write_all(const char *folder)
{
    int code = write_page(folder, NULL);
    for (int i = 0; code == 0 && commands[i]; i++)
        code = write_page(folder, commands[i]);
    for (int i = 0; code == 0 && shells[i].name; i++) {
        output out;
        code = open_below(&out, folder, shells[i].file);
        if (code)
            return code;
        shells[i].print(out.file);
        code = output_commit(&out, "man");
    }
    return code;
}

/* --- gradus man --------------------------------------------------------------------------------------------------- */

static int run_man(int argc, char **argv)
{
    man_settings s = {0};
    const char *names[3] = {NULL};
    options_end end = options_parse(&man_command, &s, argc, argv, names);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (s.into)
        return names[0] ? complain(GR_USAGE, "man", "--into writes all pages; leave out %s", names[0])
                        : write_all(s.into);
    int words = 0;
    char *of[2] = {(char *)names[0], (char *)names[1]};
    const gradus_command *c = names[0] ? command_find(names[1] ? 2 : 1, of, &words) : NULL;
    if (names[0] && !c)
        return GR_USAGE;
    man_print(stdout, c);
    return 0;
}

static const char *command_name(int i)
{
    return commands[i] ? commands[i]->name : NULL;
}

static const option man_options[] = {
    TEXT_OPTION("into", "FOLDER", offsetof(man_settings, into),
                "write all pages and completions below it, as they lie below share/"),
    {0},
};

static const option_group man_groups[] = {{"Options", man_options, NULL, 0}, {0}};

const gradus_command man_command = {
    .name = "man",
    .purpose = "a man page of the program, or of one of its commands",
    .usage = "man [COMMAND]\nman --into FOLDER",
    .about = "Print a man page, made of the same tables as --help. 'cmake --install' puts all of them in their place.",
    .operand = "COMMAND",
    .operands = 2,
    .operand_name = command_name,
    .examples = "man train | man -l -\nman --into build/share",
    .groups = man_groups,
    .run = run_man,
};

/* --- gradus completion -------------------------------------------------------------------------------------------- */

static const char *shell_name(int i)
{
    return shells[i].name;
}

static int run_completion(int argc, char **argv)
{
    const char *name;
    options_end end = options_parse(&completion_command, NULL, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const int place = name ? name_find((name_list)NAMES(shells), name) : -1;
    if (place < 0)
        return complain(GR_USAGE, "completion", "for which shell? bash, zsh or fish%s%s", name ? ", not " : "",
                        name ? name : "");
    shells[place].print(stdout);
    return 0;
}

static const option_group no_options[] = {{0}};

const gradus_command completion_command = {
    .name = "completion",
    .purpose = "what bash, zsh or fish reads to complete gradus' words",
    .usage = "completion bash|zsh|fish",
    .about = "Print what a shell reads to complete the words of a command line, made of the same tables as --help. "
             "'cmake --install' puts it in its place.",
    .operand = "SHELL",
    .operand_name = shell_name,
    .examples = "completion bash > ~/.local/share/bash-completion/completions/gradus\n"
                "completion fish > ~/.config/fish/completions/gradus.fish",
    .groups = no_options,
    .run = run_completion,
};
