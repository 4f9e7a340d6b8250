// Messages about arguments that do not fit.
#include "checks.hpp"

#include <string>

namespace linkwise {

namespace {

std::string list_lengths(const int64_t* lengths, size_t ndim) {
    std::string text;
    for (size_t i = 0; i < ndim; ++i)
        text += (i > 0 ? ", " : "") + (lengths[i] == kSome ? "≥1" : std::to_string(lengths[i]));
    return text;
}

}  // namespace

void check_lengths(const char* name, const int64_t* found, size_t ndim, std::initializer_list<int64_t> wanted) {
    bool fits = ndim == wanted.size();
    for (size_t i = 0; fits && i < ndim; ++i) {
        const int64_t length = wanted.begin()[i];
        fits = length == kSome ? found[i] > 0 : found[i] == length;
    }
    if (!fits)
        refuse(name, " must have shape (", list_lengths(wanted.begin(), wanted.size()), "), got (",
               list_lengths(found, ndim), ndim == 1 ? ",)" : ")");
}

void argument::refuse_array(const char* name, nb::handle given, const char* types, size_t ndim, bool is_changed) {
    const bool is_array = nb::isinstance(given, nb::module_::import_("numpy").attr("ndarray"));
    const std::string all = types, type = is_array ? nb::str(given.attr("dtype")).c_str() : "";
    if (!is_array || (!all.empty() && (" " + all + " ").find(" " + type + " ") == std::string::npos)) {
        const std::string found = is_array ? "an array of " + type : nb::str(given.type().attr("__name__")).c_str();
        const std::string wanted = all.substr(all.rfind(' ') + 1);
        std::ostringstream text;
        text << name << " must be a NumPy array of " << all << ", got " << found
             << ". Convert it with np.ascontiguousarray(" << name << ", dtype=np." << wanted << ").";
        throw nb::type_error(text.str().c_str());
    }
    const auto shape = nb::cast<nb::tuple>(given.attr("shape"));
    if (shape.size() != ndim)
        refuse(name, " must have ", ndim, ndim == 1 ? " dimension" : " dimensions", ", got shape ",
               nb::str(shape).c_str());
    const nb::object flags = given.attr("flags");
    if (is_changed && !nb::cast<bool>(flags.attr("writeable"))) refuse(name, " is read-only. Give a writable array.");
    refuse(name, " must be C-contiguous. Copy it with np.ascontiguousarray(", name, ").");
}

}  // namespace linkwise
