/* text.cc - see text.h. */
#include "tests/ptx/interpreter/text.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace ptx
{
void text::skip_space()
{
    for (;;) {
        while (isspace((unsigned char)*at_))
            at_++;
        if (at_[0] == '/' && at_[1] == '/')
            skip_line();
        else if (at_[0] == '/' && at_[1] == '*')
            at_ = strstr(at_, "*/") + 2;
        else
            return;
    }
}

void text::skip_line()
{
    while (*at_ && *at_ != '\n')
        at_++;
}

char text::peek()
{
    skip_space();
    return *at_;
}

void text::skip()
{
    if (peek())
        at_++;
}

bool text::take(char c)
{
    if (peek() != c)
        return false;
    at_++;
    return true;
}

void text::expect(char c)
{
    if (!take(c))
        throw unknown(std::string("PTX: '") + c + "' is missing before " + std::string(at_, strnlen(at_, 40)));
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_$%.", c));
}

std::string text::word()
{
    skip_space();
    const char *first = at_;
    while (in_word(*at_) || (at_[0] == ':' && at_[1] == ':' && at_++))
        at_++;
    if (first == at_)
        throw unknown("PTX: a word is missing before " + std::string(at_, strnlen(at_, 40)));
    return std::string(first, at_);
}

int64_t text::number()
{
    skip_space();
    char *end;
    const bool negative = *at_ == '-';
    const uint64_t magnitude = strtoull(at_ + negative, &end, 0);
    at_ = *end == 'U' ? end + 1 : end;
    return (int64_t)(negative ? 0 - magnitude : magnitude);
}

std::string text::quoted()
{
    expect('"');
    const char *first = at_;
    while (*at_ && *at_ != '"')
        at_++;
    return std::string(first, at_++);
}

void text::skip_braces()
{
    int depth = 0;
    do {
        const char c = peek();
        if (!c)
            throw unknown("PTX: a '}' is missing");
        if (c == '"') {
            quoted();
            continue;
        }
        depth += (c == '{') - (c == '}');
        at_++;
    } while (depth);
}
} // namespace ptx
