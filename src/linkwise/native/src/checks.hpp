// Functions for Python whose arguments are checked by name. `define` checks types, layouts and counts; a function
// itself checks lengths, and values that are places in other arrays, before it releases the GIL.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <optional>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

#include "kernels.hpp"

namespace linkwise {

// ---------------------------------------------------------------- what is given back, or changed
template <typename T>
using Output = nb::ndarray<nb::numpy, T>;

// An array of any number of dimensions.
template <typename T>
using AnyShape = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// A table that is written to.
template <typename T>
using Changed = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// ---------------------------------------------------------------- lengths and values
inline constexpr int64_t kPositive = -1;  // a length of at least 1

// Raises ValueError.
template <typename... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    throw nb::value_error(text.str().c_str());
}

void check_lengths(const char* name, std::span<const int64_t> found, std::span<const int64_t> wanted);

template <typename Array>
std::span<const int64_t> lengths_of(const Array& array) {
    return {array.shape_ptr(), array.ndim()};
}

template <typename Array, typename... Lengths>
void check_shape(const char* name, const Array& array, Lengths... lengths) {
    const std::array<int64_t, sizeof...(Lengths)> wanted{static_cast<int64_t>(lengths)...};
    check_lengths(name, lengths_of(array), wanted);
}

// Optional arrays.
template <typename Array, typename... Lengths>
void check_shape(const char* name, const std::optional<Array>& array, Lengths... lengths) {
    if (array) check_shape(name, *array, lengths...);
}

template <typename Array>
auto data_or_null(const std::optional<Array>& array) {
    return array ? array->data() : nullptr;
}

template <typename Array>
void check_rows(const char* name, const Array& array) {
    check_shape(name, array, kPositive, kPositive);
}

template <typename Array>
void check_square(const char* name, const Array& array) {
    check_shape(name, array, array.shape(0), array.shape(0));
}

// Positions in other arrays: code would read and write beyond these.
template <typename T>
void check_range(const char* name, const T* values, size_t size, int64_t low, int64_t high) {
    if (size == 0) return;
    T least = values[0], most = values[0];
    for (size_t i = 1; i < size; ++i) least = std::min(least, values[i]), most = std::max(most, values[i]);
    if (static_cast<int64_t>(least) < low || static_cast<int64_t>(most) > high)
        refuse(name, " holds ", +least, " to ", +most, ". Pass ", low, " to ", high, ".");
}

template <typename Array>
void check_range(const char* name, const Array& array, int64_t low, int64_t high) {
    check_range(name, array.data(), array.size(), low, high);
}

// Pairs of such positions, (q, 2).
inline void check_pairs(const char* name, const Matrix<int32_t>& pairs, int64_t n) {
    check_shape(name, pairs, pairs.shape(0), 2);
    check_range(name, pairs, 0, n - 1);
}

inline void check_between(const char* name, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high) refuse(name, " must be ", low, " to ", high, ", got ", value);
}

// Where the parts of a list begin, and where the last one ends.
template <typename T>
void check_starts(const char* name, const Vector<T>& starts, size_t end) {
    const T *first = starts.data(), *last = first + starts.size() - 1;
    if (*first != 0 || static_cast<size_t>(*last) != end || !std::is_sorted(first, last + 1))
        refuse(name, " must rise from 0 to ", end, ".");
}

// ---------------------------------------------------------------- arguments
// An integer of at least 1.
struct count : nb::arg {
    constexpr explicit count(const char* name) : nb::arg(name) {}
};

// An argument as it was given.
template <typename T>
struct Unchecked {
    nb::handle given;
};

// An array of either type of numbers.
template <typename S, typename T>
struct Either {};

namespace argument {

template <typename T>
struct Traits {
    static constexpr bool is_array = false;
    using Given = T;
};
template <typename... Options>
struct Traits<nb::ndarray<Options...>> {
    using Array = nb::ndarray<Options...>;
    static constexpr bool is_array = true;
    using Given = Unchecked<Array>;
    static constexpr auto types = nb::detail::dtype_traits<typename Array::Scalar>::name;
    static constexpr int ndim = Array::Config::N;  // -1: any
    static constexpr bool is_changed = !Array::ReadOnly;
};
template <typename Array>
struct Traits<std::optional<Array>> : Traits<Array> {
    using Given = Unchecked<std::optional<Array>>;
};

// Why an array was not taken: raises TypeError or ValueError.
[[noreturn]] void refuse_array(const char* name, nb::handle given, const char* types, int ndim, bool is_changed);

template <typename Array>
bool is_aligned(const Array& array) {
    return reinterpret_cast<uintptr_t>(array.data()) % std::max<size_t>(array.itemsize(), 1) == 0;
}

template <typename T>
struct Take {
    static T from(const char* name, T value, bool is_count) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
            if (is_count && value < 1) refuse(name, " must be at least 1, got ", value);
        return value;
    }
};
template <typename... Options>
struct Take<nb::ndarray<Options...>> {
    using Array = nb::ndarray<Options...>;
    static Array from(const char* name, Unchecked<Array> argument, bool) {
        using Known = Traits<Array>;
        Array array;
        if (!nb::try_cast(argument.given, array, false) || !is_aligned(array))
            refuse_array(name, argument.given, Known::types.text, Known::ndim, Known::is_changed);
        return array;
    }
};
template <typename Array>
struct Take<std::optional<Array>> {
    static std::optional<Array> from(const char* name, Unchecked<std::optional<Array>> argument, bool) {
        if (argument.given.is_none()) return std::nullopt;
        return Take<Array>::from(name, {argument.given}, false);
    }
};

template <uint32_t Flags, bool Locked>
const nb::arg_t<Flags, Locked>& annotation(const nb::arg_t<Flags, Locked>& given) {
    return given;
}
template <uint32_t Flags, bool Locked>
const nb::arg_v_t<Flags, Locked>& annotation(const nb::arg_v_t<Flags, Locked>& given) {
    return given;
}
inline nb::arg annotation(const count& given) { return nb::arg(given.name_); }

template <size_t N>
struct Names {
    std::array<const char*, N> name;
    std::array<bool, N> is_count;
};
template <typename... Args>
Names<sizeof...(Args)> names(const Args&... args) {
    return {{args.name_...}, {std::is_same_v<Args, count>...}};
}

}  // namespace argument

// One of the arrays in a list.
template <typename Array>
Array take_array(const char* name, nb::handle given) {
    return argument::Take<Array>::from(name, {given}, false);
}

// Pass a function to Python.
template <typename R, typename... A, typename... Args>
void define(nb::module_& m, const char* name, R (*function)(A...), const char* doc, const Args&... args) {
    static_assert(sizeof...(A) == sizeof...(Args));
    const auto names = argument::names(args...);
    m.def(
        name,
        [function, names](typename argument::Traits<A>::Given... given) -> R {
            return [&]<size_t... I>(std::index_sequence<I...>) -> R {
                std::tuple<A...> taken{argument::Take<A>::from(names.name[I], std::move(given), names.is_count[I])...};
                return function(std::move(std::get<I>(taken))...);
            }(std::index_sequence_for<A...>());
        },
        doc, argument::annotation(args)...);
}

// One function of two types of rows, which are the first argument.
template <typename R, typename S, typename T, typename... A, typename... Args>
void define(nb::module_& m, const char* name, R (*one)(Matrix<S>, A...), R (*other)(Matrix<T>, A...), const char* doc,
            const nb::arg& rows, const Args&... args) {
    static_assert(sizeof...(A) == sizeof...(Args));
    const auto names = argument::names(args...);
    m.def(
        name,
        [one, other, names, first = rows.name_](Unchecked<Either<S, T>> X,
                                                typename argument::Traits<A>::Given... given) -> R {
            nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu> array;
            const bool is_taken = nb::try_cast(X.given, array, false) && argument::is_aligned(array);
            const bool is_one = is_taken && array.dtype() == nb::dtype<S>();
            if (!is_one && !(is_taken && array.dtype() == nb::dtype<T>())) {
                constexpr auto types = nb::detail::dtype_traits<S>::name + nb::detail::const_name(" or ") +
                                       nb::detail::dtype_traits<T>::name;
                argument::refuse_array(first, X.given, types.text, 2, false);
            }
            return [&]<size_t... I>(std::index_sequence<I...>) -> R {
                std::tuple<A...> taken{argument::Take<A>::from(names.name[I], std::move(given), names.is_count[I])...};
                return is_one ? one(Matrix<S>(array), std::move(std::get<I>(taken))...)
                              : other(Matrix<T>(array), std::move(std::get<I>(taken))...);
            }(std::index_sequence_for<A...>());
        },
        doc, rows, argument::annotation(args)...);
}

}  // namespace linkwise

namespace nanobind::detail {

template <typename T>
inline constexpr auto array_name = const_name<std::is_void_v<T>>(
    const_name("numpy.typing.NDArray[typing.Any]"),
    const_name("numpy.ndarray[dtype=") + dtype_traits<T>::name + const_name("]"));

template <typename... Options>
struct type_caster<linkwise::Unchecked<ndarray<Options...>>> {
    using Argument = linkwise::Unchecked<ndarray<Options...>>;
    NB_TYPE_CASTER(Argument, array_name<typename ndarray<Options...>::Scalar>)
    bool from_python(handle given, uint32_t, cleanup_list*) noexcept {
        value.given = given;
        return true;
    }
};
template <typename Array>
struct type_caster<linkwise::Unchecked<std::optional<Array>>> : type_caster<linkwise::Unchecked<Array>> {
    using Argument = linkwise::Unchecked<std::optional<Array>>;
    NB_TYPE_CASTER(Argument, type_caster<linkwise::Unchecked<Array>>::Name)
    bool from_python(handle given, uint32_t, cleanup_list*) noexcept {
        value.given = given;
        return true;
    }
};
template <typename S, typename T>
struct type_caster<linkwise::Unchecked<linkwise::Either<S, T>>> {
    using Argument = linkwise::Unchecked<linkwise::Either<S, T>>;
    NB_TYPE_CASTER(Argument, array_name<S> + const_name(" | ") + array_name<T>)
    bool from_python(handle given, uint32_t, cleanup_list*) noexcept {
        value.given = given;
        return true;
    }
};

}  // namespace nanobind::detail
