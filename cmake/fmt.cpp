// SPDX-License-Identifier: Apache-2.0
// The functions of fmt that its headers declare, for systems that have fmt only as a shared
// library.
#include <fmt/format-inl.h>

template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(
    fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl(fmt::detail::locale_ref);
