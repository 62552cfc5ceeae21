/* completion.c - what bash, zsh and fish read to complete the words of a command line. */
#include <string.h>

#include "manual/manual.h"

bool option_is_path(const option *o)
{
    return o->type == OPTION_TEXT && o->metavar &&
           (strcmp(o->metavar, "FILE") == 0 || strcmp(o->metavar, "PATH") == 0 || strcmp(o->metavar, "FOLDER") == 0);
}

int short_help(const char *help)
{
    int length = (int)strcspn(help, "(;:");
    while (length > 0 && help[length - 1] == ' ')
        length--;
    return length > 0 ? length : (int)strlen(help);
}

/* "merge" of "sweep merge", where first is "sweep"; NULL: it is no command of two words that begins so. */
static const char *second_word(const gradus_command *c, const gradus_command *first)
{
    const size_t length = strlen(first->name);
    return strncmp(c->name, first->name, length) == 0 && c->name[length] == ' ' ? c->name + length + 1 : NULL;
}

static bool is_operand(const gradus_command *c, const char *word)
{
    for (int i = 0; c->operand_name && c->operand_name(i); i++)
        if (strcmp(c->operand_name(i), word) == 0)
            return true;
    return false;
}

/* What may stand without dashes, with blanks between: second words of commands too. */
static void put_operands(FILE *f, const gradus_command *c)
{
    for (int i = 0; c->operand_name && c->operand_name(i); i++)
        fprintf(f, "%s%s", i ? " " : "", c->operand_name(i));
    for (int i = 0; commands[i] && c->operand_name; i++)
        if (second_word(commands[i], c) && !is_operand(c, second_word(commands[i], c)))
            fprintf(f, " %s", second_word(commands[i], c));
}

/* A line of a shell for every command of two words. */
static void put_two_words(FILE *f, const char *format)
{
    for (int i = 0; commands[i]; i++)
        for (int j = 0; commands[j]; j++)
            if (second_word(commands[j], commands[i]))
                fprintf(f, format, commands[i]->name, second_word(commands[j], commands[i]), commands[j]->name);
}

/* True when files may stand without dashes: beside other words (data), or alone. */
static bool takes_files(const gradus_command *c)
{
    return c->operand && (!c->operand_name || strcmp(c->name, "data") == 0);
}

static void put_names(FILE *f, const option *o)
{
    for (int i = 0; name_at(o->names, i); i++)
        fprintf(f, "%s%s", i ? " " : "", name_at(o->names, i));
}

static void put_commands(FILE *f)
{
    for (int i = 0; commands[i]; i++)
        if (!strchr(commands[i]->name, ' '))
            fprintf(f, "%s ", commands[i]->name);
    fputs("help", f);
}

/* --- bash --------------------------------------------------------------------------------------------------------- */

/* After an option that takes a value: which. */
static void bash_values(FILE *f, const gradus_command *c)
{
    for (const option_group *g = c->groups; g->title; g++)
        for (const option *o = options_of(g); o->name; o++) {
            if (o->type == OPTION_FLAG)
                continue;
            fprintf(f, "    '%s --%s') ", c->name, o->name);
            if (o->names.first) {
                fputs("words='", f);
                put_names(f, o);
                fputs("' ;;\n", f);
            } else {
                fputs(option_is_path(o) ? "COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n" : "return ;;\n", f);
            }
        }
}

static void bash_options(FILE *f, const gradus_command *c)
{
    fprintf(f, "    '%s') options='", c->name);
    for (const option_group *g = c->groups; g->title; g++)
        for (const option *o = options_of(g); o->name; o++)
            fprintf(f, "--%s ", o->name);
    fputs("--help' operands='", f);
    put_operands(f, c);
    fprintf(f, "' files=%d ;;\n", takes_files(c));
}

void complete_bash(FILE *f)
{
    fputs("# Completion of gradus for bash.\n_gradus()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
          "    local files=0 words='' options='' operands='",
          f);
    put_commands(f);
    fputs("'\n    [[ $COMP_CWORD == 1 ]] && command=''\n", f);
    put_two_words(f, "    [[ $command == %s && $COMP_CWORD -gt 2 && ${COMP_WORDS[2]} == %s ]] && command='%s'\n");
    fputs("    case $command in\n", f);
    for (int i = 0; commands[i]; i++)
        bash_options(f, commands[i]);
    fputs("    esac\n    case \"$command $prev\" in\n", f);
    for (int i = 0; commands[i]; i++)
        bash_values(f, commands[i]);
    fputs("    *) [[ $cur == -* ]] && words=$options || words=$operands ;;\n    esac\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    [[ $files == 1 && ${#COMPREPLY[@]} == 0 ]] && COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "}\ncomplete -F _gradus gradus\n",
          f);
}

/* --- zsh ---------------------------------------------------------------------------------------------------------- */

/* Within single quotes and brackets. */
static void put_quoted(FILE *f, const char *text, int length)
{
    for (int i = 0; i < length; i++) {
        if (text[i] == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", text[i]))
            fprintf(f, "\\%c", text[i]);
        else
            fputc(text[i], f);
    }
}

static void zsh_option(FILE *f, const option *o)
{
    fprintf(f, "            '--%s[", o->name);
    put_quoted(f, o->help, short_help(o->help));
    fputc(']', f);
    if (o->type != OPTION_FLAG)
        fprintf(f, ":%s:", o->metavar);
    if (o->names.first) {
        fputc('(', f);
        put_names(f, o);
        fputc(')', f);
    } else if (option_is_path(o)) {
        fputs("_files", f);
    }
    fputs("' \\\n", f);
}

static void zsh_command(FILE *f, const gradus_command *c)
{
    fprintf(f, "    '%s')\n        _arguments \\\n", c->name);
    for (const option_group *g = c->groups; g->title; g++)
        for (const option *o = options_of(g); o->name; o++)
            zsh_option(f, o);
    fputs("            '--help[what it does, and its options]'", f);
    if (c->operand_name) {
        fprintf(f, " \\\n            '*:%s:(", c->operand);
        put_operands(f, c);
        fputs(")'", f);
    } else if (c->operand) {
        fprintf(f, " \\\n            '*:%s:_files'", c->operand);
    }
    fputs(" ;;\n", f);
}

void complete_zsh(FILE *f)
{
    fputs("#compdef gradus\n# Completion of gradus for zsh.\n_gradus()\n{\n    local -a names\n    names=(\n", f);
    for (int i = 0; commands[i]; i++) {
        if (strchr(commands[i]->name, ' '))
            continue;
        fprintf(f, "        '%s:", commands[i]->name);
        put_quoted(f, commands[i]->purpose, (int)strlen(commands[i]->purpose));
        fputs("'\n", f);
    }
    fputs("        'help:what a command does'\n    )\n"
          "    if ((CURRENT == 2)); then\n        _describe command names\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n",
          f);
    put_two_words(f, "    if [[ $command == %s && $words[2] == %s ]] && ((CURRENT > 2)); then\n"
                     "        command='%s'\n        shift words\n        ((CURRENT--))\n    fi\n");
    fputs("    case $command in\n", f);
    for (int i = 0; commands[i]; i++)
        zsh_command(f, commands[i]);
    fputs("    esac\n}\n_gradus \"$@\"\n", f);
}

/* --- fish --------------------------------------------------------------------------------------------------------- */

/* Within single quotes: fish knows \' and \\ there. */
static void put_fish(FILE *f, const char *text, int length)
{
    for (int i = 0; i < length; i++)
        fprintf(f, "%s%c", text[i] == '\'' || text[i] == '\\' ? "\\" : "", text[i]);
}

/* When the words of a command stand there: "data show" is not "data". */
static void fish_begin(FILE *f, const gradus_command *c)
{
    const char *second = strchr(c->name, ' ');
    int first = second ? (int)(second - c->name) : (int)strlen(c->name);
    fprintf(f, "complete -c gradus -n '__fish_seen_subcommand_from %.*s", first, c->name);
    for (int i = 0; commands[i]; i++)
        if (second_word(commands[i], c))
            fprintf(f, "; and not __fish_seen_subcommand_from %s", second_word(commands[i], c));
    fprintf(f, "%s%s' ", second ? "; and __fish_seen_subcommand_from" : "", second ? second : "");
}

static void fish_option(FILE *f, const gradus_command *c, const option *o)
{
    fish_begin(f, c);
    fprintf(f, "-l %s %s", o->name, o->type == OPTION_FLAG ? "" : option_is_path(o) ? "-r -F " : "-x ");
    if (o->names.first) {
        fputs("-a '", f);
        put_names(f, o);
        fputs("' ", f);
    }
    fputs("-d '", f);
    put_fish(f, o->help, short_help(o->help));
    fputs("'\n", f);
}

void complete_fish(FILE *f)
{
    fputs("# Completion of gradus for fish.\ncomplete -c gradus -f\n", f);
    for (int i = 0; commands[i]; i++) {
        const gradus_command *c = commands[i];
        if (!strchr(c->name, ' ')) {
            fprintf(f, "complete -c gradus -n __fish_use_subcommand -a %s -d '", c->name);
            put_fish(f, c->purpose, (int)strlen(c->purpose));
            fputs("'\n", f);
        }
        if (c->operand_name) {
            fish_begin(f, c);
            fputs("-a '", f);
            put_operands(f, c);
            fputs("'\n", f);
        }
        if (takes_files(c)) {
            fish_begin(f, c);
            fputs("-F\n", f);
        }
        for (const option_group *g = c->groups; g->title; g++)
            for (const option *o = options_of(g); o->name; o++)
                fish_option(f, c, o);
    }
}
