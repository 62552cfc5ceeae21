/* text.h - a reader of PTX's text: words, numbers, punctuation; comments are space. */
#ifndef GRADUS_PTX_TEXT_H
#define GRADUS_PTX_TEXT_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ptx
{
/* The text says what the interpreter does not know. */
struct unknown : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class text
{
  public:
    explicit text(const char *at) : at_(at)
    {
    }
    /* The next character that is no space, 0 at the end; it stays. */
    char peek();
    /* Whether it is c, which is then taken. */
    bool take(char c);
    /* As take, but it must be. */
    void expect(char c);
    /* Letters, digits, any of _ $ % . and :: */
    std::string word();
    /* Decimal or hexadecimal, with a sign. */
    int64_t number();
    std::string quoted();
    /* Past the '}' that belongs to the '{' that comes next. */
    void skip_braces();
    void skip_line();
    /* Past the next character that is no space. */
    void skip();
    const char *at() const
    {
        return at_;
    }

  private:
    void skip_space();
    const char *at_;
};
} // namespace ptx

#endif
