/* parser.cc - see parser.h. */
#include "tests/ptx/interpreter/parser.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

#include "tests/ptx/interpreter/text.h"

namespace ptx
{
bool statement::has(const char *word) const
{
    for (const std::string &w : words)
        if (w == word)
            return true;
    return false;
}

uint32_t bytes_of_type(const std::string &type)
{
    const char *t = type.c_str() + (type[0] == '.');
    if (!strcmp(t, "pred"))
        return 1;
    if (!strcmp(t, "f16x2"))
        return 4;
    return *t && strchr("bsuf", *t) && isdigit((unsigned char)t[1]) ? (uint32_t)atoi(t + 1) / 8 : 0;
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

/* 0f3F800000 and 0d..., or an integer. */
static uint64_t number_bits(text *t)
{
    const char *p = t->at();
    if (p[0] == '0' && strchr("fFdD", p[1]))
        return strtoull(t->word().c_str() + 2, nullptr, 16);
    return (uint64_t)t->number();
}

static operand parse_operand(text *t);

static std::vector<operand> parse_operands(text *t, char end)
{
    std::vector<operand> all;
    while (!t->take(end)) {
        all.push_back(parse_operand(t));
        t->take(',');
    }
    return all;
}

static operand parse_address(text *t)
{
    operand o;
    o.what = operand::ADDRESS;
    if (isdigit((unsigned char)t->peek()))
        o.bits = number_bits(t);
    else
        o.name = t->word();
    if (t->take('+'))
        o.offset = t->number();
    else if (t->peek() == '-')
        o.offset = t->number();
    if (t->take(','))
        o.parts = parse_operand(t).parts;
    t->expect(']');
    return o;
}

static operand parse_operand(text *t)
{
    operand o;
    if (t->take('{')) {
        o.what = operand::VECTOR;
        o.parts = parse_operands(t, '}');
    } else if (t->take('(')) {
        o.what = operand::LIST;
        o.parts = parse_operands(t, ')');
    } else if (t->take('[')) {
        o = parse_address(t);
    } else if (isdigit((unsigned char)t->peek()) || t->peek() == '-') {
        o.what = operand::NUMBER;
        o.bits = number_bits(t);
    } else {
        o.negated = t->take('!');
        o.name = t->word();
        if (t->take('|')) {
            const operand first = o;
            o.what = operand::VECTOR;
            o.parts = {first, parse_operand(t)};
        }
    }
    return o;
}

/* --- statements and directives ------------------------------------------------------------------------------------ */

static std::vector<std::string> split(const std::string &s)
{
    std::vector<std::string> words(1);
    for (char c : s)
        if (c == '.')
            words.emplace_back();
        else
            words.back() += c;
    return words;
}

/* Runs of spaces become one. */
static std::string one_line(const char *first, const char *end)
{
    std::string s;
    for (; first < end; first++)
        if (!isspace((unsigned char)*first))
            s += *first;
        else if (!s.empty() && s.back() != ' ')
            s += ' ';
    return s;
}

static statement parse_statement(text *t)
{
    statement s;
    const char *first = t->at();
    if (t->take('@')) {
        s.unless = t->take('!');
        s.guard = t->word();
    }
    s.opcode = t->word();
    s.words = split(s.opcode);
    s.operands = parse_operands(t, ';');
    s.text = one_line(first, t->at());
    return s;
}

/* ".align 16 .b8 name[512]", behind the word that tells the space. */
static variable parse_variable(text *t)
{
    variable v;
    std::string word = t->word();
    while (!bytes_of_type(word)) { /* .align N, .ptr .global */
        if (word == ".align")
            v.align = (uint32_t)t->number();
        word = t->word();
    }
    v.size = bytes_of_type(word);
    v.align = v.align < v.size ? v.size : v.align;
    v.name = t->word();
    if (t->take('[')) {
        v.dynamic = t->peek() == ']';
        v.size *= v.dynamic ? 0 : (uint32_t)t->number();
        t->expect(']');
    }
    return v;
}

static std::vector<variable> parse_parameters(text *t)
{
    std::vector<variable> all;
    t->expect('(');
    while (!t->take(')')) {
        t->word(); /* .param */
        all.push_back(parse_variable(t));
        t->take(',');
    }
    return all;
}

static void parse_registers(text *t, function *f)
{
    const std::string type = t->word().substr(1);
    do {
        registers r;
        r.type = type;
        r.name = t->word();
        if (t->take('<')) {
            r.count = (uint32_t)t->number();
            t->expect('>');
        }
        f->declared.push_back(r);
    } while (t->take(','));
    t->expect(';');
}

static void skip_statement(text *t)
{
    while (!t->take(';'))
        t->skip();
}

/* A word that begins with a dot. .loc changes where in the source the next statements stand. */
static void parse_directive(text *t, function *f, statement *here)
{
    const std::string word = t->word();
    if (word == ".reg") {
        parse_registers(t, f);
    } else if (word == ".shared" || word == ".param" || word == ".local") {
        (word == ".shared" ? f->shared : word == ".param" ? f->passed : f->local).push_back(parse_variable(t));
        t->expect(';');
    } else if (word == ".loc") {
        here->file = (int)t->number();
        here->line = (int)t->number();
        t->skip_line();
    } else if (word == ".pragma") {
        skip_statement(t);
    } else {
        throw unknown("PTX: the directive " + word + " in " + f->name);
    }
}

static bool at_label(const text &t)
{
    const char *p = t.at();
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '$')
        p++;
    return p > t.at() && *p == ':';
}

static void parse_body(text *t, function *f)
{
    statement here;
    int depth = 0;
    do {
        const char c = t->peek();
        if (t->take('{')) {
            depth++;
        } else if (t->take('}')) {
            depth--;
        } else if (c == '.') {
            parse_directive(t, f, &here);
        } else if (at_label(*t)) {
            f->labels[t->word()] = (uint32_t)f->statements.size();
            t->expect(':');
        } else {
            f->statements.push_back(parse_statement(t));
            f->statements.back().file = here.file;
            f->statements.back().line = here.line;
        }
    } while (depth);
}

/* From behind ".entry" or ".func". */
static std::unique_ptr<function> parse_function(const char *at, bool entry)
{
    auto f = std::make_unique<function>();
    text t(at);
    f->entry = entry;
    if (t.peek() == '(')
        f->results = parse_parameters(&t);
    f->name = t.word();
    if (t.peek() == '(')
        f->parameters = parse_parameters(&t);
    while (t.peek() != '{')
        if (t.peek() == '.' && t.word() == ".maxntid") {
            f->max_threads = 1;
            do
                f->max_threads *= (uint32_t)t.number();
            while (t.take(','));
        } else if (t.peek() != '.' && t.peek() != '{') {
            t.number();
            t.take(',');
        }
    parse_body(&t, f.get());
    return f;
}

/* --- the module --------------------------------------------------------------------------------------------------- */

module::module(std::string text) :text_(std::move(text))
{
    index();
}

/* Finds what stands outside of functions, and where these begin. */
void module::index()
{
    text t(text_.c_str());
    while (t.peek()) {
        const std::string word = t.word();
        if (word == ".entry" || word == ".func") {
            const char *at = t.at();
            if (t.peek() == '(')
                parse_parameters(&t);
            const std::string name = t.word();
            while (t.peek() != '{' && t.peek() != ';')
                t.skip();
            if (t.peek() == '{') {
                headers_[name] = {at, word == ".entry"};
                t.skip_braces();
            } else {
                t.expect(';'); /* declared before it is defined */
            }
        } else if (word == ".shared") {
            const variable v = parse_variable(&t);
            shared_[v.name] = v;
            t.expect(';');
        } else if (word == ".file") {
            const int number = (int)t.number();
            files_[number] = t.quoted();
            t.skip_line();
        } else if (word == ".target") {
            target_ = (unsigned)atoi(t.word().c_str() + strlen("sm_"));
            t.skip_line();
        } else if (word == ".section") {
            while (t.peek() != '{')
                t.skip();
            t.skip_braces();
        } else if (word == ".version" || word == ".address_size") {
            t.skip_line();
        } else if (word != ".visible" && word != ".weak" && word != ".extern") {
            throw unknown("PTX: " + word + " between functions");
        }
    }
}

const function *module::find(const std::string &name)
{
    const auto header = headers_.find(name);
    if (header == headers_.end())
        return nullptr;
    std::unique_ptr<function> &f = parsed_[name];
    if (!f)
        f = parse_function(header->second.at, header->second.entry);
    return f.get();
}

const variable *module::shared(const std::string &name) const
{
    const auto v = shared_.find(name);
    return v == shared_.end() ? nullptr : &v->second;
}

std::string module::file(int number) const
{
    const auto f = files_.find(number);
    return f == files_.end() ? "?" : f->second;
}

std::vector<std::string> module::entries() const
{
    std::vector<std::string> names;
    for (const auto &h : headers_)
        if (h.second.entry)
            names.push_back(h.first);
    return names;
}
} // namespace ptx
