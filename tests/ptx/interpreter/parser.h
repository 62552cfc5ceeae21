/* parser.h - a module of PTX as it is written: functions, variables, statements and their operands. */
#ifndef GRADUS_PTX_PARSER_H
#define GRADUS_PTX_PARSER_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptx
{
struct operand {
    enum kind {
        NAME,    /* register, label, variable, special register, _ */
        NUMBER,  /* bits */
        VECTOR,  /* {parts}, and a|b, whose parts are a and b */
        ADDRESS, /* [name + offset] or [bits]; [name, {parts}] */
        LIST     /* (parts), of a call */
    } what = NAME;
    std::string name;
    uint64_t bits = 0;
    int64_t offset = 0;
    bool negated = false; /* !%p */
    std::vector<operand> parts;
};

struct statement {
    std::string text, guard, opcode; /* guard "": none */
    bool unless = false;             /* @!guard */
    std::vector<std::string> words;  /* of the opcode */
    std::vector<operand> operands;
    int file = 0, line = 0; /* in the source */

    bool has(const char *word) const;
};

/* Of shared memory, or a parameter. */
struct variable {
    std::string name;
    uint32_t size = 0, align = 1;
    bool dynamic = false; /* as large as the launch says */
};

struct registers {
    std::string type, name; /* "b32" */
    uint32_t count = 0;     /* name0 to name(count - 1); 0: one, called name */
};

struct function {
    std::string name;
    bool entry = false;
    std::vector<variable> parameters, results, shared;
    std::vector<variable> passed, local; /* parameters of calls; each lane's own memory */
    std::vector<registers> declared;
    std::vector<statement> statements;
    std::map<std::string, uint32_t> labels; /* numbers of statements */
    uint32_t max_threads = 0;               /* .maxntid; 0: not said */
};

class module
{
  public:
    explicit module(std::string text);
    /* Parsed at its first use. NULL: there is none. */
    const function *find(const std::string &name);
    const variable *shared(const std::string &name) const;
    std::string file(int number) const;
    unsigned target() const
    {
        return target_;
    }
    std::vector<std::string> entries() const;

  private:
    struct header {
        const char *at;
        bool entry;
    };
    void index();
    std::string text_;
    unsigned target_ = 0; /* 80 */
    std::map<std::string, header> headers_;
    std::map<std::string, variable> shared_;
    std::map<int, std::string> files_;
    std::map<std::string, std::unique_ptr<function>> parsed_;
};

/* Bytes of a type "u32", ".b8"; 0: it is none. A predicate has 1. */
uint32_t bytes_of_type(const std::string &type);
} // namespace ptx

#endif
