// Messages about arguments that do not fit.
#include "checks.hpp"

#include <string>

namespace linkwise {

namespace {

std::string list_lengths(std::span<const int64_t> lengths) {
    std::string text;
    for (size_t i = 0; i < lengths.size(); ++i)
        text += (i > 0 ? ", " : "") + (lengths[i] == kPositive ? "≥1" : std::to_string(lengths[i]));
    return text;
}

std::string describe(const nb::object& value) { return nb::str(value).c_str(); }

}  // namespace

void check_lengths(const char* name, std::span<const int64_t> found, std::span<const int64_t> wanted) {
    bool fits = found.size() == wanted.size();
    for (size_t i = 0; fits && i < found.size(); ++i)
        fits = wanted[i] == kPositive ? found[i] > 0 : found[i] == wanted[i];
    if (!fits)
        refuse(name, " must have shape (", list_lengths(wanted), "), got (", list_lengths(found),
               found.size() == 1 ? ",)" : ")");
}

void argument::refuse_array(const char* name, nb::handle given, const char* types, int ndim, bool is_changed) {
    const bool is_array = nb::isinstance(given, nb::module_::import_("numpy").attr("ndarray"));
    const std::string all = types, type = is_array ? describe(given.attr("dtype")) : "";
    if (!is_array || (!all.empty() && (" " + all + " ").find(" " + type + " ") == std::string::npos)) {
        const std::string found = is_array ? "an array of " + type : describe(given.type().attr("__name__"));
        std::ostringstream text;
        text << name << " must be a NumPy array" << (all.empty() ? "" : " of ") << all << ", got " << found << ".";
        if (!all.empty())
            text << " Convert it with np.ascontiguousarray(" << name << ", dtype=np." << all.substr(all.rfind(' ') + 1)
                 << ").";
        throw nb::type_error(text.str().c_str());
    }
    const auto shape = nb::cast<nb::tuple>(given.attr("shape"));
    if (ndim >= 0 && shape.size() != static_cast<size_t>(ndim))
        refuse(name, " must have ", ndim, ndim == 1 ? " dimension" : " dimensions", ", got shape ",
               describe(shape));
    const nb::object flags = given.attr("flags");
    if (is_changed && !nb::cast<bool>(flags.attr("writeable"))) refuse(name, " is read-only. Pass a writable array.");
    refuse(name, " must be C-contiguous. Copy it with np.ascontiguousarray(", name, ").");
}

}  // namespace linkwise
