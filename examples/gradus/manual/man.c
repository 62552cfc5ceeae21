/* man.c - man pages, in the language of troff's man macros. */
#include <ctype.h>
#include <string.h>

#include "manual/manual.h"

/* Text as troff shows it: blanks and letters stay; a dash is one that can be copied into a shell. */
static void put(FILE *f, const char *text, int length)
{
    for (int i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", f);
        else if (text[i] == '-')
            fputs("\\-", f);
        else
            fputc(text[i], f);
    }
}

/* A line of text; one that begins as a request would is kept from being one. */
static void put_line(FILE *f, const char *text, int length)
{
    if (text[0] == '.' || text[0] == '\'')
        fputs("\\&", f);
    put(f, text, length);
    fputc('\n', f);
}

/* Lines of a table of commands, each behind "gradus ". */
static void put_commands(FILE *f, const char *lines)
{
    fputs(".nf\n", f);
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        fputs("gradus ", f);
        put(f, lines, length);
        fputc('\n', f);
        lines += length + (lines[length] == '\n');
    }
    fputs(".fi\n", f);
}

static void put_option(FILE *f, const option *o)
{
    fputs(".TP\n\\fB\\-\\-", f);
    put(f, o->name, (int)strlen(o->name));
    fprintf(f, "\\fR%s%s%s\n", o->metavar ? " \\fI" : "", o->metavar ? o->metavar : "", o->metavar ? "\\fR" : "");
    put_line(f, o->help, (int)strlen(o->help));
}

static void put_head(FILE *f, const char *name, const char *purpose)
{
    char title[64];
    snprintf(title, sizeof title, "gradus%s%s", *name ? "-" : "", name);
    for (char *c = title; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    fputs(".TH ", f);
    for (const char *c = title; *c; c++)
        fputc(toupper((unsigned char)*c), f);
    fprintf(f, " 1 \"\" \"Gradus %s\" \"Gradus\"\n.ad l\n.SH NAME\n", gr_version());
    put(f, title, (int)strlen(title));
    fputs(" \\- ", f);
    put_line(f, purpose, (int)strlen(purpose));
}

static void put_ends(FILE *f)
{
    fputs(".SH EXIT STATUS\n"
          "0 done; 1 some cells of a sweep failed; 2 usage; 3 bad data or file; 4 out of memory; 5 input or output "
          "failed; 6 numbers went bad; 7 device fault or wrong result; 75 stopped by a signal, run again to go on.\n",
          f);
}

static void print_program(FILE *f)
{
    put_head(f, "", "training of published experiments from scratch, with the evidence");
    fputs(".SH SYNOPSIS\n\\fBgradus\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH COMMANDS\n", f);
    for (int i = 0; commands[i]; i++) {
        fprintf(f, ".TP\n\\fB%s\\fR\n", commands[i]->name);
        put_line(f, commands[i]->purpose, (int)strlen(commands[i]->purpose));
    }
    fputs(".TP\n\\fBhelp\\fR [\\fICOMMAND\\fR]\nwhat a command does, and its options\n", f);
    put_ends(f);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBGRADUS_DATA\\fR\nwhere data sets are looked for without \\-\\-data\n"
          ".TP\n\\fBGRADUS_CPU\\fR\nthe instruction set to use: plain, avx2, avx512, avx512\\-bf16, amx, "
          "amx\\-emulated or bf16\\-emulated\n"
          ".TP\n\\fBGRADUS_GPU\\fR\nthe number of the GPU to use, or of the first one that ranks use\n"
          ".TP\n\\fBGRADUS_NCCL\\fR\noff: ranks on GPUs tell each other gradients through the host's memory\n"
          ".TP\n\\fBGRADUS_JPEG\\fR\nstb_image: decode JPEGs by that, not by libjpeg\\-turbo\n"
          ".TP\n\\fBPYTHON\\fR\na Python with matplotlib, which draws the pictures of sweeps\n"
          ".TP\n\\fBNO_COLOR\\fR\nno colours on the terminal\n.SH SEE ALSO\n",
          f);
    for (int i = 0; commands[i]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", commands[i]->name);
        for (char *c = name; *c; c++)
            *c = *c == ' ' ? '-' : *c;
        fprintf(f, ".BR gradus\\-%s (1)%s\n", name, commands[i + 1] ? "," : "");
    }
}

void man_print(FILE *f, const gradus_command *c)
{
    if (!c) {
        print_program(f);
        return;
    }
    put_head(f, c->name, c->purpose);
    fputs(".SH SYNOPSIS\n", f);
    put_commands(f, c->usage);
    fputs(".SH DESCRIPTION\n", f);
    put_line(f, c->about, (int)strlen(c->about));
    fputs(".SH OPTIONS\n", f);
    for (const option_group *g = c->groups; g->title; g++) {
        fprintf(f, ".SS %s\n", g->title);
        for (const option *o = options_of(g); o->name; o++)
            put_option(f, o);
    }
    fputs(".SH EXAMPLES\n", f);
    put_commands(f, c->examples);
    put_ends(f);
    fputs(".SH SEE ALSO\n.BR gradus (1)\n", f);
}
