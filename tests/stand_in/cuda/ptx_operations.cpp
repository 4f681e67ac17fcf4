// The instructions of PTX that was made at run time, and their meaning: see ptx.hpp.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <type_traits>

#include "protocol.hpp"
#include "ptx.hpp"

namespace ptx {

namespace {

// A thread that has taken this number of branches is in an endless loop; with shuffles, a warp that has.
constexpr uint64_t MOST_BRANCHES = 1 << 26;

[[noreturn]] __attribute__((noinline)) void fail(Thread& thread, const Op* op, uint32_t status,
                                                 const std::string& why) {
    thread.machine.fail(status, "line " + std::to_string(op->line) + " of the PTX " + why);
    abort();
}

// Reads a register as its type here. A predicate is a bool.
template <class T>
T get(Thread& thread, const Op* op, int source) {
    const uint32_t slot = op->from[source];
    if (!thread.written[slot]) {
        fail(thread, op, stand_in::LAUNCH_FAILED,
             "reads " + thread.kernel.registers[slot] + ", which the thread has not written");
    }
    T value;
    memcpy(&value, &thread.values[slot], sizeof value);
    return value;
}

template <class T>
const Op* put(Thread& thread, const Op* op, T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    thread.values[op->to] = bits;
    thread.written[op->to] = 1;
    return op + 1;
}

// Arithmetic of f32 gives one NaN.
double canonical(double x) { return x; }
float canonical(float x) {
    constexpr uint32_t NAN_BITS = 0x7fffffff;
    if (x == x) return x;
    memcpy(&x, &NAN_BITS, sizeof x);
    return x;
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// ---- operations on values

struct Add {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return canonical(a + b);
        else
            return (T)((Unsigned<T>)a + (Unsigned<T>)b);
    }
};
struct Subtract {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return canonical(a - b);
        else
            return (T)((Unsigned<T>)a - (Unsigned<T>)b);
    }
};
struct Multiply {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return canonical(a * b);
        else
            return (T)((Unsigned<T>)a * (Unsigned<T>)b);
    }
};
struct DivideFloats {
    template <class T>
    static T of(T a, T b) {
        return canonical(a / b);
    }
};
struct MultiplyHigh {
    template <class T>
    static T of(T a, T b) {
        typedef std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128> Wide;
        return (T)((Wide)a * (Wide)b >> 8 * sizeof(T));
    }
};
// The number if the other is NaN; -0 is less than +0.
struct Minimum {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (a != a || b != b) return canonical(a != a ? b : a);
            if (a == b) return signbit(a) ? a : b;
        }
        return b < a ? b : a;
    }
};
struct Maximum {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (a != a || b != b) return canonical(a != a ? b : a);
            if (a == b) return signbit(a) ? b : a;
        }
        return a < b ? b : a;
    }
};
struct And {
    template <class T>
    static T of(T a, T b) {
        return a & b;
    }
};
struct Or {
    template <class T>
    static T of(T a, T b) {
        return a | b;
    }
};
struct Xor {
    template <class T>
    static T of(T a, T b) {
        return a ^ b;
    }
};
// The sign of the first, and all else of the second.
struct CopySign {
    template <class T>
    static T of(T a, T b) {
        return std::copysign(b, a);
    }
};

struct Negate {
    template <class T>
    static T of(T a) {
        if constexpr (std::is_floating_point_v<T>)
            return -a;
        else
            return (T)(0 - (Unsigned<T>)a);
    }
};
struct Absolute {
    template <class T>
    static T of(T a) {
        if constexpr (std::is_floating_point_v<T>)
            return std::fabs(a);
        else
            return a < 0 ? Negate::of(a) : a;
    }
};
struct Not {
    template <class T>
    static T of(T a) {
        if constexpr (std::is_same_v<T, bool>)
            return !a;
        else
            return ~a;
    }
};
struct Root {
    template <class T>
    static T of(T a) {
        return canonical(std::sqrt(a));
    }
};
struct Reciprocal {
    template <class T>
    static T of(T a) {
        return canonical(1 / a);
    }
};
struct Same {
    template <class T>
    static T of(T a) {
        return a;
    }
};
// To whole numbers.
struct ToEven {
    template <class T>
    static T of(T a) {
        return canonical(std::nearbyint(a));
    }
};
struct ToZero {
    template <class T>
    static T of(T a) {
        return canonical(std::trunc(a));
    }
};
struct ToFloor {
    template <class T>
    static T of(T a) {
        return canonical(std::floor(a));
    }
};
struct ToCeiling {
    template <class T>
    static T of(T a) {
        return canonical(std::ceil(a));
    }
};

// ---- instructions

template <class T, class F>
const Op* one(Thread& thread, const Op* op) {
    return put<T>(thread, op, F::of(get<T>(thread, op, 0)));
}

template <class T, class F>
const Op* two(Thread& thread, const Op* op) {
    const T a = get<T>(thread, op, 0), b = get<T>(thread, op, 1);
    return put<T>(thread, op, F::of(a, b));
}

// The amount has 32 bits; one of more than there are bits is as all of them.
template <class T, bool LEFT>
const Op* shift(Thread& thread, const Op* op) {
    const T a = get<T>(thread, op, 0);
    const uint32_t by = get<uint32_t>(thread, op, 1);
    constexpr uint32_t BITS = 8 * sizeof(T);
    if (by >= BITS) return put<T>(thread, op, !LEFT && std::is_signed_v<T> && a < 0 ? (T)-1 : (T)0);
    return put<T>(thread, op, LEFT ? (T)((Unsigned<T>)a << by) : (T)(a >> by));
}

template <class T, bool REST>
const Op* divide(Thread& thread, const Op* op) {
    const T a = get<T>(thread, op, 0), b = get<T>(thread, op, 1);
    if (b == 0) fail(thread, op, stand_in::LAUNCH_FAILED, "divides by zero, which gives no certain value");
    if (std::is_signed_v<T> && b == (T)-1) return put<T>(thread, op, REST ? 0 : Negate::of(a));
    return put<T>(thread, op, REST ? a % b : a / b);
}

template <class T, class WIDE>
const Op* multiply_wide(Thread& thread, const Op* op) {
    const WIDE a = get<T>(thread, op, 0), b = get<T>(thread, op, 1);
    return put<WIDE>(thread, op, Multiply::of(a, b));
}

template <class T, class WIDE>
const Op* multiply_add(Thread& thread, const Op* op) {
    const WIDE a = get<T>(thread, op, 0), b = get<T>(thread, op, 1), c = get<WIDE>(thread, op, 2);
    return put<WIDE>(thread, op, Add::of(Multiply::of(a, b), c));
}

template <class T>
const Op* fused(Thread& thread, const Op* op) {
    const T a = get<T>(thread, op, 0), b = get<T>(thread, op, 1), c = get<T>(thread, op, 2);
    return put<T>(thread, op, canonical(std::fma(a, b, c)));
}

template <class T>
const Op* select(Thread& thread, const Op* op) {
    const T a = get<T>(thread, op, 0), b = get<T>(thread, op, 1);
    return put<T>(thread, op, get<bool>(thread, op, 2) ? a : b);
}

enum Comparison { EQ, NE, LT, LE, GT, GE, NUMBERS };

// If either is NaN the answer is UNORDERED. NUMBERS asks for that alone.
template <class T, Comparison HOW, bool UNORDERED>
bool compare(T a, T b) {
    if (a != a || b != b) return UNORDERED;
    switch (HOW) {
        case EQ: return a == b;
        case NE: return a != b;
        case LT: return a < b;
        case LE: return a <= b;
        case GT: return a > b;
        case GE: return a >= b;
        case NUMBERS: return !UNORDERED;
    }
    return false;
}

struct Alone {};

template <class T, Comparison HOW, bool UNORDERED, class F>
const Op* set_predicate(Thread& thread, const Op* op) {
    const T a = get<T>(thread, op, 0), b = get<T>(thread, op, 1);
    bool answer = compare<T, HOW, UNORDERED>(a, b);
    if constexpr (!std::is_same_v<F, Alone>) answer = F::of(answer, get<bool>(thread, op, 2) != op->inverted);
    return put<bool>(thread, op, answer);
}

// ---- conversions

template <class TO, class FROM>
const Op* convert(Thread& thread, const Op* op) {
    const TO value = (TO)get<FROM>(thread, op, 0);
    if constexpr (std::is_floating_point_v<TO>)
        return put<TO>(thread, op, canonical(value));
    else
        return put<TO>(thread, op, value);
}

// To the nearest float in a direction: towards zero (0), down (-1) or up (1).
template <int DIRECTION>
const Op* narrow(Thread& thread, const Op* op) {
    const double exact = get<double>(thread, op, 0);
    float value = (float)exact;
    const bool below = DIRECTION < 0 || (DIRECTION == 0 && exact > 0);
    if (below ? (double)value > exact : (double)value < exact) value = nextafterf(value, below ? -INFINITY : INFINITY);
    return put<float>(thread, op, canonical(value));
}

// Saturates to the nearest value.
template <class TO, class FROM, class ROUND>
const Op* to_integer(Thread& thread, const Op* op) {
    const FROM value = ROUND::of(get<FROM>(thread, op, 0));
    constexpr int BITS = 8 * sizeof(TO);
    if (value != value) {
        const bool zero = sizeof(FROM) == 4 && BITS == 32;
        return put<TO>(thread, op, zero ? (TO)0 : (TO)((Unsigned<TO>)1 << (BITS - 1)));
    }
    const FROM above = std::ldexp((FROM)1, BITS - std::is_signed_v<TO>);
    if (value >= above) return put<TO>(thread, op, std::numeric_limits<TO>::max());
    if (value < (std::is_signed_v<TO> ? -above : (FROM)0)) return put<TO>(thread, op, std::numeric_limits<TO>::min());
    return put<TO>(thread, op, (TO)value);
}

// Two words and a number of 64 bits; the low word is the first.
const Op* pack(Thread& thread, const Op* op) {
    const uint64_t low = get<uint32_t>(thread, op, 0), high = get<uint32_t>(thread, op, 1);
    return put<uint64_t>(thread, op, high << 32 | low);
}
const Op* unpack(Thread& thread, const Op* op) {
    return put<uint32_t>(thread, op, (uint32_t)(get<uint64_t>(thread, op, 0) >> 8 * op->offset));
}

// ---- memory

std::string hex(uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%#lx", (unsigned long)number);
    return text;
}

std::string access(bool writes, size_t bytes, uint64_t address) {
    return (writes ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " + hex(address);
}

bool find_in_window(Thread& thread, Space space, uint64_t address, Place& place) {
    for (const Symbol& symbol : thread.module.symbols) {
        if (symbol.space != space || address < symbol.window || address >= symbol.window + symbol.bytes) continue;
        const uint64_t at = space == CONSTANT ? symbol.address : (uint64_t)thread.machine.shared() + symbol.address;
        place = {symbol.window, symbol.window + symbol.bytes, (int64_t)(at - symbol.window), space == CONSTANT};
        return true;
    }
    return false;
}

// ORDERED accesses synchronise threads: they are no race.
template <class T, Space SPACE, bool WRITES, bool ORDERED = false>
char* reach(Thread& thread, const Op* op) {
    const uint64_t address = get<uint64_t>(thread, op, 0) + (uint64_t)op->offset;
    Place& place = thread.places[op - thread.kernel.ops.data()];
    if (address < place.from || address >= place.to || place.to - address < sizeof(T)) {
        place = {};
        const bool found =
            SPACE == GLOBAL ? thread.machine.find(address, place) : find_in_window(thread, SPACE, address, place);
        if (!found || place.to - address < sizeof(T)) {
            const char* const which = SPACE == CONSTANT ? " in constant memory, " : " in shared memory, ";
            std::string where = SPACE == GLOBAL ? ", " : which;
            if (found)
                where += std::to_string(place.to - address) + " before the end of what is there";
            else
                where += "where there is no memory, or no longer";
            if (!found && place.to > 0) {
                where += "; the next below is " + hex(place.from) + " of " + std::to_string(place.to - place.from) +
                         " bytes, whose end is " + std::to_string(address - place.to) + " before";
            }
            fail(thread, op, stand_in::ILLEGAL_ADDRESS, access(WRITES, sizeof(T), address) + where);
        }
    }
    if (address % sizeof(T) != 0) {
        fail(thread, op, stand_in::MISALIGNED_ADDRESS, access(WRITES, sizeof(T), address));
    }
    if (WRITES && place.read_only) fail(thread, op, stand_in::LAUNCH_FAILED, "writes to constant memory");
    const uint64_t own = address + (uint64_t)place.shift;
    if (SPACE != CONSTANT && !ORDERED) thread.machine.touch(own, sizeof(T), WRITES, op->line);
    return reinterpret_cast<char*>(own);
}

template <class T, Space SPACE, bool ORDERED = false>
const Op* load(Thread& thread, const Op* op) {
    T value;
    memcpy(&value, SPACE == PARAMETER ? thread.argument + op->offset : reach<T, SPACE, false, ORDERED>(thread, op),
           sizeof value);
    return put<T>(thread, op, value);
}

template <class T, Space SPACE = GLOBAL, bool ORDERED = false>
const Op* store(Thread& thread, const Op* op) {
    const T value = get<T>(thread, op, 1);
    memcpy(reach<T, SPACE, true, ORDERED>(thread, op), &value, sizeof value);
    return op + 1;
}

// Counts up to a number, and behind it begins at 0 again.
const Op* count_around(Thread& thread, const Op* op) {
    char* const place = reach<uint32_t, GLOBAL, true, true>(thread, op);
    uint32_t before;
    memcpy(&before, place, sizeof before);
    const uint32_t after = before >= get<uint32_t>(thread, op, 1) ? 0 : before + 1;
    memcpy(place, &after, sizeof after);
    return put<uint32_t>(thread, op, before);
}

// The running thread has done all before it.
const Op* fence(Thread&, const Op* op) { return op + 1; }

// The address of a vector, whose elements are loads or stores of their own behind it.
template <size_t BYTES, bool WRITES>
const Op* aim(Thread& thread, const Op* op) {
    const uint64_t address = get<uint64_t>(thread, op, 0) + (uint64_t)op->offset;
    if (address % BYTES != 0) fail(thread, op, stand_in::MISALIGNED_ADDRESS, access(WRITES, BYTES, address));
    return put<uint64_t>(thread, op, address);
}

// ---- between the lanes of a warp

enum Way { IDX, UP, DOWN, BFLY };

// A lane's value, and the lane that it takes one from: itself if that is beyond its segment or beyond the clamp.
template <Way WAY>
const Op* shuffle(Thread& thread, const Op* op) {
    thread.given = get<uint32_t>(thread, op, 0);
    const uint32_t by = get<uint32_t>(thread, op, 1) % WARP, clamp = get<uint32_t>(thread, op, 2) % WARP;
    const uint32_t segment = get<uint32_t>(thread, op, 2) >> 8 & (WARP - 1);
    const uint32_t lane = thread.lane, first = lane & segment, last = first | (clamp & ~segment);
    uint32_t from = first | (by & ~segment);
    if (WAY == UP) from = lane - by;
    if (WAY == DOWN) from = lane + by;
    if (WAY == BFLY) from = lane ^ by;
    const bool inside = WAY == UP ? lane >= by && from >= last : from <= last;
    thread.takes_from = inside ? from : lane;
    thread.stands = op;
    return nullptr;
}

// ---- between the warps of a block

const Op* barrier(Thread& thread, const Op* op) {
    thread.stands = op;
    return nullptr;
}

// ---- where it goes on

const Op* branch(Thread& thread, const Op* op) {
    if (++thread.branches == MOST_BRANCHES) fail(thread, op, stand_in::LAUNCH_FAILED, "branches without an end");
    return thread.kernel.ops.data() + op->target;
}

const Op* end(Thread&, const Op*) { return nullptr; }

// Runs a thread from an instruction on, until it is over, or stands at a shuffle or a barrier.
void go(Thread& thread, const Op* op) {
    thread.stands = nullptr;
    while (op) {
        if (op->guard != NONE) {
            if (!thread.written[op->guard]) {
                fail(thread, op, stand_in::LAUNCH_FAILED,
                     "reads " + thread.kernel.registers[op->guard] + ", which the thread has not written");
            }
            if ((thread.values[op->guard] != 0) == op->unless) {
                ++op;
                continue;
            }
        }
        op = op->run(thread, op);
    }
}

// ---- the table

typedef std::map<std::string, Form> Forms;

constexpr Type PRED = {PREDICATE, 1};
constexpr Type U32 = {UNSIGNED, 32};

template <class T>
constexpr Type TYPE = {std::is_floating_point_v<T> ? FLOAT
                       : std::is_signed_v<T>       ? SIGNED
                                                   : UNSIGNED,
                       8 * sizeof(T)};

template <class T>
const std::string END = std::string(std::is_floating_point_v<T> ? ".f"
                                    : std::is_signed_v<T>       ? ".s"
                                                                : ".u") +
                        (sizeof(T) == 4 ? "32" : "64");

// Operands by their roles, all of one type.
std::vector<Operand> all(const char* roles, Type type) {
    std::vector<Operand> operands;
    for (; *roles; ++roles) operands.push_back({*roles, type});
    return operands;
}

// Instructions that move bits: they depend only on the type's size.
template <class BITS_OF>
void add_moves(Forms& forms, const std::string& end, Type type) {
    const auto memory = [&](const char* name, Handler run, const char* roles, Space space) {
        forms[name + end] = {run, all(roles, type), space};
    };
    memory("ld.param", load<BITS_OF, PARAMETER>, "da", PARAMETER);
    memory("ld.const", load<BITS_OF, CONSTANT>, "da", CONSTANT);
    memory("ld.global", load<BITS_OF, GLOBAL>, "da", GLOBAL);
    memory("ld.global.nc", load<BITS_OF, GLOBAL>, "da", GLOBAL);
    memory("st.global", store<BITS_OF>, "as", GLOBAL);
    memory("ld.volatile.global", load<BITS_OF, GLOBAL, true>, "da", GLOBAL);
    memory("st.volatile.global", store<BITS_OF, GLOBAL, true>, "as", GLOBAL);
    memory("ld.shared", load<BITS_OF, SHARED>, "da", SHARED);
    memory("st.shared", store<BITS_OF, SHARED>, "as", SHARED);
    forms["mov" + end] = {one<BITS_OF, Same>, all("ds", type), NOWHERE, true};
    forms["selp" + end] = {select<BITS_OF>, {{'d', type}, {'s', type}, {'s', type}, {'s', PRED}}};
}

// Accesses to N elements of a type.
template <class T, uint32_t N>
void add_vectors(Forms& forms, const std::string& end, Type type) {
    const std::string name = "global.v" + std::to_string(N) + end, constant = "global.nc.v" + std::to_string(N) + end;
    Form reads = {aim<N * sizeof(T), false>, all("wa", type), GLOBAL, false, N, load<T, GLOBAL>};
    forms["ld." + name] = forms["ld." + constant] = reads;
    forms["st." + name] = {aim<N * sizeof(T), true>, all("ar", type), GLOBAL, false, N, store<T>};
}

void add_shuffle(Forms& forms, const std::string& way, Handler run) {
    const Type bits = {BITS, 32};
    forms["shfl.sync." + way + ".b32"] = {run, {{'d', bits}, {'s', bits}, {'s', U32}, {'s', U32}, {'m', U32}}};
}

template <class T>
void add_bits(Forms& forms, const std::string& end, Type type) {
    forms["and" + end] = {two<T, And>, all("dss", type)};
    forms["or" + end] = {two<T, Or>, all("dss", type)};
    forms["xor" + end] = {two<T, Xor>, all("dss", type)};
    forms["not" + end] = {one<T, Not>, all("ds", type)};
}

template <class T, bool LEFT>
void add_shift(Forms& forms, const std::string& name, Type type) {
    forms[name] = {shift<T, LEFT>, {{'d', type}, {'s', type}, {'s', U32}}};
}

template <class T, Comparison HOW, bool UNORDERED>
void add_comparison(Forms& forms, const std::string& how, const std::string& end, Type type) {
    std::vector<Operand> operands = {{'d', PRED}, {'s', type}, {'s', type}};
    forms["setp." + how + end] = {set_predicate<T, HOW, UNORDERED, Alone>, operands};
    operands.push_back({'p', PRED});
    forms["setp." + how + ".and" + end] = {set_predicate<T, HOW, UNORDERED, And>, operands};
    forms["setp." + how + ".or" + end] = {set_predicate<T, HOW, UNORDERED, Or>, operands};
    forms["setp." + how + ".xor" + end] = {set_predicate<T, HOW, UNORDERED, Xor>, operands};
}

template <class T, bool UNORDERED>
void add_comparisons(Forms& forms, const char* suffix = "") {
    const Type type = TYPE<T>;
    add_comparison<T, EQ, UNORDERED>(forms, std::string("eq") + suffix, END<T>, type);
    add_comparison<T, NE, UNORDERED>(forms, std::string("ne") + suffix, END<T>, type);
    add_comparison<T, LT, UNORDERED>(forms, std::string("lt") + suffix, END<T>, type);
    add_comparison<T, LE, UNORDERED>(forms, std::string("le") + suffix, END<T>, type);
    add_comparison<T, GT, UNORDERED>(forms, std::string("gt") + suffix, END<T>, type);
    add_comparison<T, GE, UNORDERED>(forms, std::string("ge") + suffix, END<T>, type);
}

template <class T>
void add_integer(Forms& forms) {
    const Type type = TYPE<T>;
    const std::string& end = END<T>;
    forms["add" + end] = {two<T, Add>, all("dss", type)};
    forms["sub" + end] = {two<T, Subtract>, all("dss", type)};
    forms["mul.lo" + end] = {two<T, Multiply>, all("dss", type)};
    forms["mul.hi" + end] = {two<T, MultiplyHigh>, all("dss", type)};
    forms["mad.lo" + end] = {multiply_add<T, T>, all("dsss", type)};
    forms["div" + end] = {divide<T, false>, all("dss", type)};
    forms["rem" + end] = {divide<T, true>, all("dss", type)};
    forms["min" + end] = {two<T, Minimum>, all("dss", type)};
    forms["max" + end] = {two<T, Maximum>, all("dss", type)};
    add_shift<T, false>(forms, "shr" + end, type);
    add_comparisons<T, false>(forms);
    if constexpr (std::is_signed_v<T>) {
        forms["neg" + end] = {one<T, Negate>, all("ds", type)};
        forms["abs" + end] = {one<T, Absolute>, all("ds", type)};
    } else {
        add_comparison<T, LT, false>(forms, "lo", end, type);
        add_comparison<T, LE, false>(forms, "ls", end, type);
        add_comparison<T, GT, false>(forms, "hi", end, type);
        add_comparison<T, GE, false>(forms, "hs", end, type);
    }
}

template <class T, class WIDE>
void add_wide(Forms& forms) {
    const Operand to = {'d', TYPE<WIDE>}, from = {'s', TYPE<T>}, added = {'s', TYPE<WIDE>};
    forms["mul.wide" + END<T>] = {multiply_wide<T, WIDE>, {to, from, from}};
    forms["mad.wide" + END<T>] = {multiply_add<T, WIDE>, {to, from, from, added}};
}

template <class TO, class FROM>
void add_conversion(Forms& forms, const std::string& rounding, Handler run) {
    forms["cvt" + rounding + END<TO> + END<FROM>] = {run, {{'d', TYPE<TO>}, {'s', TYPE<FROM>}}};
}

template <class TO, class FROM>
void add_to_integer(Forms& forms) {
    add_conversion<TO, FROM>(forms, ".rni", to_integer<TO, FROM, ToEven>);
    add_conversion<TO, FROM>(forms, ".rzi", to_integer<TO, FROM, ToZero>);
    add_conversion<TO, FROM>(forms, ".rmi", to_integer<TO, FROM, ToFloor>);
    add_conversion<TO, FROM>(forms, ".rpi", to_integer<TO, FROM, ToCeiling>);
}

template <class T>
void add_conversions_of(Forms& forms) {
    add_conversion<uint32_t, T>(forms, "", convert<uint32_t, T>);
    add_conversion<int32_t, T>(forms, "", convert<int32_t, T>);
    add_conversion<uint64_t, T>(forms, "", convert<uint64_t, T>);
    add_conversion<int64_t, T>(forms, "", convert<int64_t, T>);
    add_conversion<float, T>(forms, ".rn", convert<float, T>);
    add_conversion<double, T>(forms, ".rn", convert<double, T>);
}

// Without .rn an assembler may fuse a product and a sum: there is none without.
template <class T>
void add_float(Forms& forms) {
    const Type type = TYPE<T>;
    const std::string& end = END<T>;
    forms["add.rn" + end] = {two<T, Add>, all("dss", type)};
    forms["sub.rn" + end] = {two<T, Subtract>, all("dss", type)};
    forms["mul.rn" + end] = {two<T, Multiply>, all("dss", type)};
    forms["div.rn" + end] = {two<T, DivideFloats>, all("dss", type)};
    forms["fma.rn" + end] = {fused<T>, all("dsss", type)};
    forms["sqrt.rn" + end] = {one<T, Root>, all("ds", type)};
    forms["rcp.rn" + end] = {one<T, Reciprocal>, all("ds", type)};
    forms["neg" + end] = {one<T, Negate>, all("ds", type)};
    forms["abs" + end] = {one<T, Absolute>, all("ds", type)};
    forms["min" + end] = {two<T, Minimum>, all("dss", type)};
    forms["max" + end] = {two<T, Maximum>, all("dss", type)};
    forms["copysign" + end] = {two<T, CopySign>, all("dss", type)};
    add_comparisons<T, false>(forms);
    add_comparisons<T, true>(forms, "u");
    add_comparison<T, NUMBERS, false>(forms, "num", end, type);
    add_comparison<T, NUMBERS, true>(forms, "nan", end, type);
    add_conversion<T, T>(forms, ".rni", one<T, ToEven>);
    add_conversion<T, T>(forms, ".rzi", one<T, ToZero>);
    add_conversion<T, T>(forms, ".rmi", one<T, ToFloor>);
    add_conversion<T, T>(forms, ".rpi", one<T, ToCeiling>);
    add_to_integer<uint32_t, T>(forms);
    add_to_integer<int32_t, T>(forms);
    add_to_integer<uint64_t, T>(forms);
    add_to_integer<int64_t, T>(forms);
}

template <class T>
void add_size(Forms& forms) {
    typedef std::make_signed_t<T> S;
    typedef std::conditional_t<sizeof(T) == 4, float, double> F;
    const Type bits = {BITS, 8 * sizeof(T)};
    const std::string end = sizeof(T) == 4 ? ".b32" : ".b64";
    add_moves<T>(forms, end, bits);
    add_moves<T>(forms, END<T>, TYPE<T>);
    add_moves<T>(forms, END<S>, TYPE<S>);
    add_moves<T>(forms, END<F>, TYPE<F>);
    add_bits<T>(forms, end, bits);
    add_shift<T, true>(forms, "shl" + end, bits);
    add_shift<T, false>(forms, "shr" + end, bits);
    add_comparison<T, EQ, false>(forms, "eq", end, bits);
    add_comparison<T, NE, false>(forms, "ne", end, bits);
    add_integer<T>(forms);
    add_integer<S>(forms);
    add_float<F>(forms);
    add_vectors<T, 2>(forms, end, bits);
    add_vectors<T, 2>(forms, END<F>, TYPE<F>);
    add_conversions_of<T>(forms);
    add_conversions_of<S>(forms);
}

Forms make_forms() {
    Forms forms;
    add_size<uint32_t>(forms);
    add_size<uint64_t>(forms);
    add_wide<uint32_t, uint64_t>(forms);
    add_wide<int32_t, int64_t>(forms);
    add_bits<bool>(forms, ".pred", PRED);
    forms["mov.pred"] = {one<bool, Same>, all("ds", PRED)};
    add_conversion<double, float>(forms, "", convert<double, float>);
    add_conversion<float, double>(forms, ".rn", convert<float, double>);
    add_conversion<float, double>(forms, ".rz", narrow<0>);
    add_conversion<float, double>(forms, ".rm", narrow<-1>);
    add_conversion<float, double>(forms, ".rp", narrow<1>);
    const Type word = {BITS, 32}, both = {BITS, 64};
    add_vectors<uint32_t, 4>(forms, ".b32", word);
    add_vectors<uint32_t, 4>(forms, ".f32", TYPE<float>);
    forms["mov.b64 {}"] = {one<uint64_t, Same>, {{'w', word}, {'s', both}}, NOWHERE, false, 2, unpack};
    forms["mov.b64 from {}"] = {pack, {{'d', both}, {'r', word}}, NOWHERE, false, 2};
    add_shuffle(forms, "idx", shuffle<IDX>);
    add_shuffle(forms, "up", shuffle<UP>);
    add_shuffle(forms, "down", shuffle<DOWN>);
    add_shuffle(forms, "bfly", shuffle<BFLY>);
    forms["atom.global.inc.u32"] = {count_around, all("das", U32), GLOBAL};
    forms["membar.gl"] = {fence, {}};
    forms["bar.sync"] = {barrier, all("b", U32)};
    forms["bra"] = forms["bra.uni"] = {branch, all("l", PRED)};
    forms["ret"] = forms["exit"] = {end, {}};
    return forms;
}

}  // namespace

const Form* form_of(const std::string& name) {
    static const Forms& forms = *new Forms(make_forms());
    const auto found = forms.find(name);
    return found == forms.end() ? nullptr : &found->second;
}

Launch::Launch(const Module& module, const Kernel& kernel, const char* argument, const uint32_t (&grid)[3],
               const uint32_t (&block)[3], Machine& machine)
    : kernel(kernel), machine(machine), block_size{block[0], block[1], block[2]}, places(kernel.ops.size()) {
    const uint32_t count = kernel.barriers ? block[0] * block[1] * block[2] : kernel.shuffles ? WARP : 1;
    const size_t registers = kernel.registers.size(), slots = registers + kernel.numbers.size();
    values.resize(count * slots);
    written.resize(count * slots, 1);
    for (uint32_t number = 0; number < count; ++number) {
        threads.push_back({module, kernel, machine, argument});
        Thread& thread = threads.back();
        thread.lane = number % WARP;
        thread.values = values.data() + number * slots;
        thread.written = written.data() + number * slots;
        thread.places = places.data();
        std::copy(kernel.numbers.begin(), kernel.numbers.end(), thread.values + registers);
        for (const auto& [slot, symbol] : kernel.addresses) thread.values[slot] = module.symbols[symbol].address;
        for (int i = 0; i < 3; ++i) {
            set(thread, NTID_X + i, block[i]);
            set(thread, NCTAID_X + i, grid[i]);
        }
    }
}

void Launch::set(Thread& thread, int special, uint32_t value) {
    const uint32_t slot = kernel.specials[special];
    if (slot != NONE) thread.values[slot] = value;
}

void Launch::begin(Thread& thread, const uint32_t (&block)[3], const uint32_t (&index)[3]) {
    for (int i = 0; i < 3; ++i) {
        set(thread, TID_X + i, index[i]);
        set(thread, CTAID_X + i, block[i]);
    }
    std::fill_n(thread.written, kernel.registers.size(), 0);
    thread.branches = kernel.shuffles ? MOST_BRANCHES - MOST_BRANCHES / WARP : 0;
}

void Launch::run(const uint32_t (&block)[3], const uint32_t (&index)[3]) {
    begin(threads[0], block, index);
    go(threads[0], kernel.ops.data());
}

// Each warp once, beginning with any, in steps that have no divisor in common with their number; and again from where they
// wait for each other.
void Launch::run_warps(const uint32_t (&block)[3], uint32_t count) {
    const uint64_t warps = (count + WARP - 1) / WARP;
    std::vector<const Op*> from(warps, kernel.ops.data());
    for (bool is_first = true;; is_first = false) {
        uint64_t step = machine.draw() % warps, at = machine.draw() % warps;
        while (std::gcd(step, warps) != 1) ++step;
        for (uint64_t i = 0; i < warps; ++i, at = (at + step) % warps) {
            const uint32_t first = (uint32_t)at * WARP, own = std::min(WARP, count - first);
            for (uint32_t lane = 0; is_first && lane < own; ++lane) {
                const uint32_t number = first + lane, row = number / block_size[0];
                begin(threads[kernel.barriers ? number : lane], block,
                      {number % block_size[0], row % block_size[1], row / block_size[1]});
            }
            from[at] = run_warp(from[at], first, own);
        }
        const Op* const barrier = *std::max_element(from.begin(), from.end());
        if (!barrier) return;
        for (uint64_t warp = 0; warp < warps; ++warp) {
            if (from[warp] == barrier) continue;
            part(barrier, (uint32_t)warp * WARP,
                 from[warp] ? " waits at line " + std::to_string(from[warp]->line) : " is over");
        }
        machine.all_met();
        std::fill(from.begin(), from.end(), barrier + 1);
    }
}

// Runs a warp to the barrier that it stops at; none where it is over.
const Op* Launch::run_warp(const Op* op, uint32_t first, uint32_t count) {
    Thread* const lanes = threads.data() + (kernel.barriers ? first : 0);
    for (;;) {
        // An odd step comes to all lanes.
        const uint64_t draw = machine.draw();
        const uint32_t step = (uint32_t)draw | 1;
        uint32_t at = (uint32_t)(draw >> 32);
        for (uint32_t i = 0; i < WARP; ++i, at += step) {
            const uint32_t lane = at % WARP;
            if (lane >= count) continue;
            machine.turn_to(first + lane);
            go(lanes[lane], op);
        }
        op = gather(lanes, first, count);
        if (!op || op->run == barrier) return op;
        for (uint32_t lane = 0; lane < count; ++lane) {
            put<uint32_t>(lanes[lane], op, lanes[lanes[lane].takes_from].given);
        }
        ++op;
    }
}

// The instruction that the lanes of a warp stand at; none where all are over.
const Op* Launch::gather(const Thread* lanes, uint32_t first, uint32_t count) {
    const Thread* const one = std::find_if(lanes, lanes + count, [](auto& one) { return one.stands; });
    if (one == lanes + count) return nullptr;
    const Op* const op = one->stands;
    const uint32_t needed = op->run == barrier ? count : WARP;
    for (uint32_t lane = 0; lane < needed; ++lane) {
        if (lane < count && lanes[lane].stands == op) continue;
        if (lane >= count) part(op, first + lane, " is not in the block");
        machine.turn_to(first + lane);
        const Op* const other = lanes[lane].stands;
        part(op, first + lane, other ? " stands at line " + std::to_string(other->line) : " is over");
    }
    return op;
}

// Fails for a thread that is not where the others are.
void Launch::part(const Op* op, uint32_t number, const std::string& what) {
    const bool waits = op->run == barrier;
    const uint32_t own = waits ? number : number % WARP;
    fail(threads[0], op, stand_in::LAUNCH_FAILED,
         std::string(waits ? "waits, and not all threads of the block came to it: thread "
                           : "shuffles, and not all lanes of the warp came to it: lane ") +
             std::to_string(own) + what);
}

}  // namespace ptx
