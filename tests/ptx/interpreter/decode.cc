/*
 * decode.cc - from statements to instructions. Functions that are called are put in place of their calls: their
 * parameters become registers.
 */
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/memory.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/text.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
static const char *const special_names[SPECIALS] = {"%tid.x",    "%tid.y",    "%tid.z",   "%ntid.x",  "%ntid.y",
                                                    "%ntid.z",   "%ctaid.x",  "%ctaid.y", "%ctaid.z", "%nctaid.x",
                                                    "%nctaid.y", "%nctaid.z", "%laneid",  "%warpid"};

/* A register: where its row lies, and how many bytes a lane has there: 1 (predicate), 4 or 8. */
struct place_of {
    place at;
    uint8_t bytes;
};

/* What names mean inside of one function, once for each place where it is called. */
struct scope {
    const function *in;
    std::unordered_map<std::string, place_of> single, first; /* first: of numbered registers */
    std::unordered_map<std::string, uint32_t> counts;
    std::unordered_map<std::string, place_of> passed; /* parameters and results of calls */
    std::unordered_map<std::string, uint32_t> entry_parameters;
    std::vector<uint32_t> begins;                     /* of each statement's instructions */
    std::vector<std::pair<uint32_t, uint32_t>> jumps; /* instruction, statement */
};

class decoder
{
  public:
    decoder(module *m, program *p) : module_(m), to_(p)
    {
        to_->home = m;
        to_->register_bytes = SPECIALS * ROW32;
    }
    void entry(const function *f);

  private:
    [[noreturn]] void refuse(const std::string &why) const;
    place row(uint32_t bytes);
    place constant(uint64_t bits, uint32_t bytes);
    void share(const variable &v);
    void share_all(const std::vector<operand> &operands);
    void declare(scope *s);
    bool find(const std::string &name, place_of *found) const;
    place_of named(const std::string &name, uint32_t bytes);
    place_of source(const operand &o, uint32_t bytes);
    place_of destination(const operand &o);
    void add_sources(instruction *i, const operand &o, uint32_t bytes);
    void add_destinations(instruction *i, const operand &o);
    void set_address(instruction *i, const operand &o, uint32_t bytes, int64_t *offset);
    instruction begin(flow what, handler run) const;
    void emit(const instruction &i);
    void move(place_of to, place_of from);

    void body(scope *s);
    void one(const statement &s);
    void branch();
    void leave();
    void call();
    void barrier();
    void load_or_store();
    void parameter_access();
    void together(handler run, uint32_t members);
    void copy();
    void tile(handler run);
    void mbarrier(handler run);
    void product(handler run);
    void pieces(handler run);
    void elementwise();
    place_of converted_source(place_of p, uint32_t bytes);

    module *module_;
    program *to_;
    scope *here_ = nullptr;
    const statement *now_ = nullptr;
    std::map<std::pair<uint64_t, uint32_t>, place> constants_;
    std::map<std::string, uint32_t> variables_; /* where they lie in shared or local memory */
    std::string dynamic_;
};

void decoder::refuse(const std::string &why) const
{
    throw unknown(to_->name + ": " + why + (now_ ? ": " + now_->text : ""));
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static uint32_t row_bytes(uint32_t bytes)
{
    return bytes == 8 ? (uint32_t)ROW64 : bytes == PREDICATE ? (uint32_t)sizeof(mask) : (uint32_t)ROW32;
}
/* Of a lane in a register that holds a type of so many. */
static uint8_t lane_bytes(uint32_t bytes)
{
    return bytes == PREDICATE || bytes == 8 ? (uint8_t)bytes : 4;
}

place decoder::row(uint32_t bytes)
{
    const uint32_t size = row_bytes(bytes), align = size < 64 ? size : 64;
    const place at = (to_->register_bytes + align - 1) / align * align;
    to_->register_bytes = at + size;
    return at;
}

/* The same number in every lane. */
place decoder::constant(uint64_t bits, uint32_t bytes)
{
    const auto known = constants_.find({bits, bytes});
    if (known != constants_.end())
        return known->second;
    const uint32_t at = (uint32_t)(to_->constants.size() + 63) / 64 * 64;
    to_->constants.resize(at + row_bytes(bytes));
    char *row = &to_->constants[at];
    const mask every = bits ? ALL : 0;
    if (bytes == PREDICATE)
        memcpy(row, &every, sizeof every);
    else
        for (uint32_t l = 0; l < LANES; l++)
            memcpy(row + l * lane_bytes(bytes), &bits, lane_bytes(bytes));
    return constants_[{bits, bytes}] = at | CONSTANT;
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

void decoder::share(const variable &v)
{
    if (v.dynamic) {
        dynamic_ = v.name;
        to_->dynamic_at = v.align; /* for now */
        return;
    }
    const uint32_t at = (to_->shared_bytes + v.align - 1) / v.align * v.align;
    variables_[v.name] = at;
    to_->shared_bytes = at + v.size;
}

/* Variables outside of functions belong to the functions that name them. */
void decoder::share_all(const std::vector<operand> &operands)
{
    for (const operand &o : operands) {
        share_all(o.parts);
        const variable *v = o.name.empty() || o.name[0] == '%' ? nullptr : module_->shared(o.name);
        if (v && !variables_.count(v->name) && dynamic_ != v->name)
            share(*v);
    }
}

/* --- names -------------------------------------------------------------------------------------------------------- */

void decoder::declare(scope *s)
{
    for (const registers &r : s->in->declared) {
        const uint32_t bytes = bytes_of_type(r.type) == 1 && r.type != "pred" ? 4 : bytes_of_type(r.type);
        if (!bytes || bytes > 8)
            refuse("registers of type " + r.type);
        auto &names = r.count ? s->first : s->single;
        const auto before = names.find(r.name);
        if (before != names.end()) { /* of another block of braces: it ends where this one begins */
            if (before->second.bytes != lane_bytes(bytes) || r.count > s->counts[r.name])
                refuse("two registers called " + r.name);
            continue;
        }
        const place at = row(bytes);
        names[r.name] = {at, lane_bytes(bytes)};
        s->counts[r.name] = r.count;
        for (uint32_t k = 1; k < r.count; k++)
            row(bytes);
    }
}

bool decoder::find(const std::string &name, place_of *found) const
{
    const auto one = here_->single.find(name);
    if (one != here_->single.end())
        return *found = one->second, true;
    size_t digits = name.size();
    while (digits && isdigit((unsigned char)name[digits - 1]))
        digits--;
    const auto many = here_->first.find(name.substr(0, digits));
    if (many == here_->first.end() || digits == name.size())
        return false;
    const uint32_t number = (uint32_t)strtoul(name.c_str() + digits, nullptr, 10);
    *found = {many->second.at + number * row_bytes(many->second.bytes), many->second.bytes};
    return true;
}

/* A register, a special one, or the address of a variable. */
place_of decoder::named(const std::string &name, uint32_t bytes)
{
    place_of found;
    if (find(name, &found))
        return found;
    for (uint32_t k = 0; k < SPECIALS; k++)
        if (name == special_names[k])
            return {k * ROW32, 4};
    if (name == "WARP_SZ")
        return {constant(LANES, bytes), lane_bytes(bytes)};
    if (name == dynamic_) {
        const uint32_t align = to_->dynamic_at, at = (to_->shared_bytes + align - 1) / align * align;
        return {constant(at, bytes), lane_bytes(bytes)};
    }
    const auto parameter = here_->entry_parameters.find(name);
    if (parameter != here_->entry_parameters.end())
        return {constant(parameter->second, bytes), lane_bytes(bytes)};
    const auto v = variables_.find(name);
    if (v == variables_.end())
        refuse("what is " + name);
    return {constant(v->second, bytes), lane_bytes(bytes)};
}

place_of decoder::source(const operand &o, uint32_t bytes)
{
    if (o.what == operand::NUMBER)
        return {constant(o.bits, bytes), lane_bytes(bytes)};
    if (o.what != operand::NAME || o.negated)
        refuse("an operand of this kind");
    return named(o.name, bytes);
}

place_of decoder::destination(const operand &o)
{
    place_of found = {NOWHERE, 4};
    if (o.name != "_" && !find(o.name, &found))
        refuse("no register " + o.name);
    return found;
}

void decoder::add_sources(instruction *i, const operand &o, uint32_t bytes)
{
    if (o.what == operand::VECTOR)
        for (const operand &part : o.parts)
            add_sources(i, part, bytes);
    else if (i->n_from == MAX_FROM)
        refuse("too many operands");
    else
        i->from[i->n_from++] = source(o, bytes).at;
}

void decoder::add_destinations(instruction *i, const operand &o)
{
    if (o.what == operand::VECTOR)
        for (const operand &part : o.parts)
            add_destinations(i, part);
    else if (i->n_to == MAX_TO)
        refuse("too many results");
    else
        i->to[i->n_to++] = destination(o).at;
}

/* Of bytes 4 (shared memory) or 8. A shared address may come in 64 bits. */
void decoder::set_address(instruction *i, const operand &o, uint32_t bytes, int64_t *offset)
{
    operand base = o;
    base.what = o.name.empty() ? operand::NUMBER : operand::NAME;
    place_of p = source(base, bytes);
    if (p.bytes != bytes)
        p = converted_source(p, bytes);
    i->from[i->n_from++] = p.at;
    *offset = o.offset;
}

/* --- instructions ------------------------------------------------------------------------------------------------- */

instruction decoder::begin(flow what, handler run) const
{
    instruction i = {};
    i.what = what;
    i.run = run;
    i.guard = i.target = NOWHERE;
    i.members = MAX_FROM;
    i.unless = now_->unless;
    place_of guard;
    if (!now_->guard.empty()) {
        if (!find(now_->guard, &guard) || guard.bytes != PREDICATE)
            refuse("what is " + now_->guard);
        i.guard = guard.at;
    }
    return i;
}

void decoder::emit(const instruction &i)
{
    to_->code.push_back(i);
    to_->origins.push_back({now_, here_->in});
}

static void run_move32(warp &w, const instruction &i, mask m)
{
    keep(w.row<u32>(i.to[0]), w.row<u32>(i.from[0]), m);
}
static void run_move64(warp &w, const instruction &i, mask m)
{
    keep(w.row<u64>(i.to[0]), w.row<u64>(i.from[0]), m);
}
static void run_low_half(warp &w, const instruction &i, mask m)
{
    unary<u32, u64>(w, i, m, [](u64 a) { return (u32)a; });
}
static void run_sign_extend(warp &w, const instruction &i, mask m)
{
    unary<s64, s32>(w, i, m, [](s32 a) { return (s64)a; });
}
static void run_zero_extend(warp &w, const instruction &i, mask m)
{
    unary<u64, u32>(w, i, m, [](u32 a) { return (u64)a; });
}

void decoder::move(place_of to, place_of from)
{
    if (to.bytes != from.bytes)
        refuse("a parameter of another width");
    instruction i = begin(flow::PLAIN, to.bytes == 8 ? run_move64 : run_move32);
    i.to[i.n_to++] = to.at;
    i.from[i.n_from++] = from.at;
    emit(i);
}

/* A wide register read as something narrow: its low half. */
place_of decoder::converted_source(place_of p, uint32_t bytes)
{
    if (p.bytes != 8 || bytes > 4 || bytes == PREDICATE)
        refuse("widths that differ");
    instruction i = begin(flow::PLAIN, run_low_half);
    i.guard = NOWHERE;
    i.from[i.n_from++] = p.at;
    i.to[i.n_to++] = row(4);
    emit(i);
    return {i.to[0], 4};
}

void decoder::branch()
{
    instruction i = begin(flow::BRANCH, nullptr);
    const auto label = here_->in->labels.find(now_->operands.at(0).name);
    if (label == here_->in->labels.end())
        refuse("no such label");
    here_->jumps.push_back({(uint32_t)to_->code.size(), label->second});
    emit(i);
}

/* ret and exit: of a function that stands in place of its call, a jump to its end. */
void decoder::leave()
{
    instruction i = begin(here_->in->entry ? flow::RETURN : flow::BRANCH, nullptr);
    if (!here_->in->entry)
        here_->jumps.push_back({(uint32_t)to_->code.size(), (uint32_t)here_->in->statements.size()});
    emit(i);
}

/* call (results), name, (arguments) */
void decoder::call()
{
    if (!now_->guard.empty())
        refuse("a call under a condition");
    const std::vector<operand> &o = now_->operands;
    const size_t name = o.at(0).what == operand::LIST ? 1 : 0;
    const function *f = module_->find(o.at(name).name);
    if (!f || f->shared.size())
        refuse("no such function");
    scope inner;
    inner.in = f;
    const auto pass = [&](const std::vector<variable> &names, const std::vector<operand> &given) {
        for (size_t k = 0; k < names.size(); k++)
            inner.passed[names[k].name] = here_->passed.at(given.at(k).name);
    };
    if (name)
        pass(f->results, o[0].parts);
    if (o.size() > name + 1)
        pass(f->parameters, o[name + 1].parts);
    scope *outer = here_;
    const statement *before = now_;
    body(&inner);
    here_ = outer;
    now_ = before;
}

static void run_trap(warp &w, const instruction &i, mask m)
{
    broken(w, i, (unsigned)__builtin_ctz(m), "trap");
}

static void run_nothing(warp &, const instruction &, mask)
{
}

/* bar.sync a{, b} and barrier.sync */
void decoder::barrier()
{
    if (now_->has("warp"))
        return together(warp_barrier_of(*now_), 0);
    if (!now_->has("sync"))
        refuse("a barrier of this kind");
    instruction i = begin(flow::BARRIER, run_nothing);
    i.aligned = true;
    for (const operand &o : now_->operands)
        add_sources(&i, o, 4);
    emit(i);
}

static void run_parameter(warp &w, const instruction &i, mask m); /* below */

/* st.param and ld.param of what a call passes are moves; an entry's parameters are read from the launch. */
void decoder::parameter_access()
{
    const bool load = now_->words[0] == "ld";
    const operand &address = now_->operands.at(load ? 1 : 0), &value = now_->operands.at(load ? 0 : 1);
    const auto passed = here_->passed.find(address.name);
    if (passed != here_->passed.end()) {
        if (address.offset)
            refuse("a part of a parameter");
        const place_of given = load ? destination(value) : source(value, passed->second.bytes);
        return load ? move(given, passed->second) : move(passed->second, given);
    }
    if (!load)
        refuse("a parameter is written");
    instruction i = begin(flow::PLAIN, run_parameter);
    add_destinations(&i, value);
    const operand &first = value.what == operand::VECTOR ? value.parts.at(0) : value;
    i.wide = destination(first).bytes == 8;
    i.choice = (uint8_t)(bytes_of_type(now_->words.back()) | (now_->words.back()[0] == 's' ? 128 : 0));
    set_address(&i, address, 8, &i.offset);
    emit(i);
}

/* Piece k of the parameter at byte at. */
static u64 parameter_piece(const warp &w, const instruction &i, u64 at, uint32_t k)
{
    const uint32_t bytes = i.choice & 127, unused = 64 - 8 * bytes;
    u64 v = 0;
    memcpy(&v, w.home->parameters + at + k * bytes, bytes);
    return i.choice & 128 ? (u64)((s64)(v << unused) >> unused) : v;
}

template <class W> static void keep_in_all(W *to, u64 v, mask m)
{
    W r[LANES];
    std::fill_n(r, (size_t)LANES, (W)v);
    keep(to, r, m);
}

/* The lanes of m for which the row holds v. */
static mask lanes_with(const u64 *row, u64 v, mask m)
{
    mask with = 0;
    for (uint32_t l = 0; l < LANES; l++)
        with |= (mask)(row[l] == v) << l;
    return with & m;
}

/* Most are at one place for all lanes, of arrays with an index, too: lanes at one place are served together. */
static void run_parameter(warp &w, const instruction &i, mask m)
{
    const u64 *base = w.row<u64>(i.from[0]);
    for (mask rest = m, to; rest; rest &= ~to) {
        const uint32_t l = (uint32_t)__builtin_ctz(rest);
        const u64 at = base[l] + (u64)i.offset;
        to = i.from[0] & CONSTANT ? rest : lanes_with(base, base[l], rest);
        if (at + i.n_to * (i.choice & 127) > w.home->code->parameter_bytes)
            broken(w, i, l, "a read past the parameters");
        for (uint32_t k = 0; k < i.n_to; k++)
            if (i.wide)
                keep_in_all(w.row<u64>(i.to[k]), parameter_piece(w, i, at, k), to);
            else
                keep_in_all(w.row<u32>(i.to[k]), parameter_piece(w, i, at, k), to);
    }
}

/* ld, st and atom of global, shared and local memory */
void decoder::load_or_store()
{
    if (now_->has("param"))
        return parameter_access();
    const std::string &base = now_->words[0];
    const bool store = base == "st";
    const handler run = store ? store_of(*now_) : base == "ld" ? load_of(*now_) : atomic_of(*now_);
    if (!run)
        refuse("unknown");
    instruction i = begin(flow::PLAIN, run);
    const operand &address = now_->operands.at(store ? 0 : 1), &value = now_->operands.at(store ? 1 : 0);
    const operand &first = value.what == operand::VECTOR ? value.parts.at(0) : value;
    const uint32_t bytes = bytes_of_type(now_->words.back());
    set_address(&i, address, now_->has("shared") ? 4 : 8, &i.offset);
    i.wide = (first.what == operand::NUMBER ? lane_bytes(bytes) : source(first, bytes).bytes) == 8;
    if (store)
        add_sources(&i, value, i.wide ? 8 : 4);
    else
        add_destinations(&i, value);
    for (size_t k = 2; k < now_->operands.size(); k++)
        add_sources(&i, now_->operands[k], bytes);
    emit(i);
}

/* members: the number of the operand that tells the lanes; 0 with no results: the first; MAX_FROM: all */
void decoder::together(handler run, uint32_t members)
{
    if (!run)
        refuse("unknown");
    instruction i = begin(flow::TOGETHER, run);
    i.aligned = now_->has("aligned");
    size_t k = 0;
    if (!now_->has("warp"))
        add_destinations(&i, now_->operands.at(k++));
    if (now_->operands.size() > k && now_->operands[k].what == operand::ADDRESS)
        set_address(&i, now_->operands[k++], 4, &i.offset);
    for (; k < now_->operands.size(); k++)
        add_sources(&i, now_->operands[k], now_->has("vote") && k == 1 ? PREDICATE : 4);
    i.members = (uint8_t)members;
    i.choice = i.n_to;
    emit(i);
}

/* cp.async [to], [from], size{, bytes}; commit_group; wait_group n */
void decoder::copy()
{
    const handler run = copy_of(*now_);
    if (!run)
        refuse("unknown");
    instruction i = begin(flow::PLAIN, run);
    size_t k = 0;
    if (now_->has("shared")) {
        set_address(&i, now_->operands.at(k++), 4, &i.offset);
        set_address(&i, now_->operands.at(k++), 8, &i.offset2);
    }
    for (; k < now_->operands.size(); k++)
        add_sources(&i, now_->operands[k], 4);
    emit(i);
}

/* cp.async.bulk.tensor [to], [map, {column, row}], [barrier]; of four dimensions {c, w, h, n} */
void decoder::tile(handler run)
{
    instruction i = begin(flow::PLAIN, run);
    int64_t none = 0;
    set_address(&i, now_->operands.at(0), 4, &i.offset);
    set_address(&i, now_->operands.at(1), 8, &i.offset2);
    for (const operand &o : now_->operands[1].parts)
        add_sources(&i, o, 4);
    set_address(&i, now_->operands.at(2), 4, &none);
    if (i.n_from != 3 + (now_->has("2d") ? 2 : 4) || none)
        refuse("unknown");
    emit(i);
}

/* mbarrier.init [at], n; arrive _, [at]{, bytes}; try_wait complete, [at], parity; fence.proxy.async */
void decoder::mbarrier(handler run)
{
    if (!run)
        refuse("unknown");
    instruction i = begin(flow::PLAIN, run);
    for (const operand &o : now_->operands)
        if (o.what == operand::ADDRESS)
            set_address(&i, o, 4, &i.offset);
        else if (i.n_from)
            add_sources(&i, o, 4);
        else
            add_destinations(&i, o);
    emit(i);
}

/* wgmma.mma_async {sums}, a, b, 1, 1, 1, major of a, of b; fence; commit_group; wait_group n */
void decoder::product(handler run)
{
    if (!run)
        refuse("unknown");
    instruction i = begin(flow::TOGETHER, run);
    const std::vector<operand> &o = now_->operands;
    i.aligned = true;
    if (now_->has("mma_async")) {
        if (o.size() != 8 || (o[0].parts.size() != 32 && o[0].parts.size() != 64) || o[3].bits != 1 || o[4].bits != 1 ||
            o[5].bits != 1)
            refuse("wgmma with other factors than 1");
        i.offset = (int64_t)to_->lists.size();
        to_->lists.emplace_back();
        for (const operand &sum : o[0].parts)
            to_->lists.back().push_back(destination(sum).at);
        add_sources(&i, o[1], 8);
        add_sources(&i, o[2], 8);
        i.choice = (uint8_t)(o[6].bits | o[7].bits << 1 | now_->has("bf16") << 2);
    } else if (!o.empty()) {
        add_sources(&i, o[0], 4);
    }
    emit(i);
}

/* The address of a parameter, for TMA. */
static void run_parameter_address(warp &w, const instruction &i, mask m)
{
    unary<u64, u64>(w, i, m, [&](u64 a) { return a + (u64)w.home->parameters; });
}

void decoder::pieces(handler run)
{
    instruction i = begin(flow::PLAIN, run);
    const bool bits = now_->words[0] != "mov";
    const uint32_t bytes = bytes_of_type(now_->words.back());
    i.choice = (uint8_t)bytes;
    add_destinations(&i, now_->operands.at(0));
    for (size_t k = 1; k < now_->operands.size(); k++) {
        const bool vector = now_->operands[k].what == operand::VECTOR;
        const bool number = bits && k >= (now_->words[0] == "bfi" ? 3u : 2u);
        add_sources(&i, now_->operands[k], vector || number ? 4 : bytes);
    }
    if (!bits && i.n_to == 2 && bytes == 8 && destination(now_->operands[0].parts[0]).bytes == 8)
        refuse("halves of 64 bits");
    emit(i);
}

/* An operation of the tables. */
void decoder::elementwise()
{
    const auto known = all_operations().find(now_->opcode);
    if (known == all_operations().end())
        refuse("unknown");
    const operation &op = known->second;
    instruction i = begin(flow::PLAIN, now_->opcode == "cvta.param.u64" ? run_parameter_address : op.run);
    for (size_t k = 1; k < now_->operands.size(); k++) {
        const uint32_t bytes = k <= 3 ? op.from[k - 1] : 0;
        if (!bytes)
            refuse("too many operands");
        place_of p = source(now_->operands[k], bytes);
        if (p.bytes != lane_bytes(bytes))
            p = op.converts ? converted_source(p, bytes) : (refuse("widths that differ"), p);
        i.from[i.n_from++] = p.at;
    }
    const place_of to = destination(now_->operands.at(0));
    if (i.n_from < 3 && op.from[i.n_from])
        refuse("an operand is missing");
    i.to[i.n_to++] = to.at;
    if (to.bytes == lane_bytes(op.to))
        return emit(i);
    if (!op.converts || to.bytes != 8)
        refuse("widths that differ");
    i.to[0] = row(4);
    emit(i);
    instruction extend =
        begin(flow::PLAIN, now_->words[now_->words.size() - 2][0] == 's' ? run_sign_extend : run_zero_extend);
    extend.from[extend.n_from++] = i.to[0];
    extend.to[extend.n_to++] = to.at;
    emit(extend);
}

void decoder::one(const statement &s)
{
    const std::string &base = s.words[0];
    if (base == "bra")
        branch();
    else if (base == "ret" || base == "exit")
        leave();
    else if (base == "call")
        call();
    else if (base == "bar" || base == "barrier")
        barrier();
    else if (base == "ld" || base == "st" || base == "atom")
        load_or_store();
    else if (base == "shfl")
        together(shuffle_of(s), 3);
    else if (base == "vote")
        together(vote_of(s), 1);
    else if (base == "redux")
        together(reduction_of(s), 1);
    else if (base == "ldmatrix" || base == "mma")
        together(matrix_of(s), MAX_FROM);
    else if (const handler run = tile_of(s))
        tile(run);
    else if (base == "cp")
        copy();
    else if (const handler run = fence_of(s))
        emit(begin(flow::PLAIN, run));
    else if (base == "mbarrier" || base == "fence")
        mbarrier(mbarrier_of(s));
    else if (base == "wgmma")
        product(product_of(s));
    else if (base == "trap")
        emit(begin(flow::PLAIN, run_trap));
    else if (const handler run = pieces_of(s))
        pieces(run);
    else
        elementwise();
}

void decoder::body(scope *s)
{
    here_ = s;
    now_ = nullptr;
    declare(s);
    for (const variable &v : s->in->local) {
        const uint32_t at = (to_->local_bytes + v.align - 1) / v.align * v.align;
        variables_[v.name] = at;
        to_->local_bytes = at + v.size;
    }
    for (const variable &v : s->in->passed)
        s->passed[v.name] = {row(v.size == 8 ? 8 : 4), lane_bytes(v.size == 8 ? 8 : 4)};
    for (const statement &next : s->in->statements) {
        now_ = &next;
        here_->begins.push_back((uint32_t)to_->code.size());
        one(next);
    }
    s->begins.push_back((uint32_t)to_->code.size());
    for (const auto &jump : s->jumps)
        to_->code[jump.first].target = s->begins[jump.second];
}

void decoder::entry(const function *f)
{
    scope s;
    s.in = f;
    to_->max_threads = f->max_threads;
    for (const variable &v : f->parameters) {
        const uint32_t at = (to_->parameter_bytes + v.align - 1) / v.align * v.align;
        to_->parameters.push_back({at, v.size});
        s.entry_parameters[v.name] = at;
        to_->parameter_bytes = at + v.size;
    }
    for (const variable &v : f->shared)
        share(v);
    for (const statement &each : f->statements)
        share_all(each.operands);
    body(&s);
    const uint32_t align = dynamic_.empty() ? 1 : to_->dynamic_at;
    to_->dynamic_at = (to_->shared_bytes + align - 1) / align * align;
}

program *decode(module *m, const std::string &name)
{
    const function *f = m->find(name);
    if (!f || !f->entry)
        return nullptr;
    auto p = std::make_unique<program>();
    p->name = name;
    decoder(m, p.get()).entry(f);
    return p.release();
}

std::string program::line_of(size_t number) const
{
    const origin &o = origins[number];
    const std::string path = home->file(o.from->file);
    return path.substr(path.rfind('/') + 1) + ":" + std::to_string(o.from->line) + ": " + o.from->text;
}
} // namespace ptx
