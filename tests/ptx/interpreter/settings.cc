/* settings.cc - see settings.h. */
#include "tests/ptx/interpreter/settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace ptx
{
/* "random:7" as RANDOM with its seed; the other names in their order. */
template <class E> static bool chosen(const std::string &value, const char *const names[], E *to, uint64_t *seed)
{
    const size_t colon = value.find(':');
    const std::string name = value.substr(0, colon);
    for (int i = 0; names[i]; i++)
        if (name == names[i]) {
            *to = (E)i;
            if (colon != std::string::npos)
                *seed = strtoull(value.c_str() + colon + 1, nullptr, 10);
            return true;
        }
    return false;
}

static bool set(settings *s, const std::string &key, const std::string &value)
{
    static const char *const orders[] = {"forward", "reverse", "random", nullptr};
    static const char *const moments[] = {"late", "early", "random", nullptr};
    static const char *const sum_names[] = {"hardware", "exact", "up", "down", "pairs", nullptr};
    static const char *const switches[] = {"off", "on", nullptr};
    if (key == "arch")
        s->arch = (unsigned)strtoul(value.c_str(), nullptr, 10);
    else if (key == "devices")
        s->devices = (unsigned)strtoul(value.c_str(), nullptr, 10);
    else if (key == "order")
        return chosen(value, orders, &s->turns, &s->seed);
    else if (key == "copies")
        return chosen(value, moments, &s->copies, &s->seed) && s->copies != moment::RANDOM;
    else if (key == "streams")
        return chosen(value, moments, &s->streams, &s->seed);
    else if (key == "sums")
        return chosen(value, sum_names, &s->products, &s->seed);
    else if (key == "races")
        return chosen(value, switches, &s->races, &s->seed);
    else if (key == "cover")
        s->cover = value;
    else
        return false;
    return !value.empty();
}

bool understand(const std::string &words, settings *s, std::string *wrong)
{
    std::istringstream in(words);
    while (in >> *wrong) {
        const size_t equals = wrong->find('=');
        if (equals == std::string::npos || !set(s, wrong->substr(0, equals), wrong->substr(equals + 1)))
            return false;
    }
    return true;
}

static settings from_environment()
{
    settings s;
    std::string wrong;
    const char *words = getenv("GRADUS_PTX");
    if (words && !understand(words, &s, &wrong)) {
        fprintf(stderr, "GRADUS_PTX: \"%s\" is not understood; tests/ptx/interpreter/settings.h lists the words\n",
                wrong.c_str());
        exit(2);
    }
    return s;
}

settings &asked()
{
    static settings s = from_environment();
    return s;
}
} // namespace ptx
