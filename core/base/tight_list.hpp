#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace ranvier {

/// Reserves room for so many elements without doubling the memory: lists of spikes have similar lengths in every epoch
/// and may be the largest memory after the synapses. With repeated growth, each element is moved about sixteen times at
/// most.
template <class List>
void make_room(List& list, std::size_t size) {
    constexpr std::size_t least = 16;
    if (size > list.capacity()) list.reserve(std::max(least, size + size / 16));
}

template <class List>
void append(List& list, const typename List::value_type& value) {
    make_room(list, list.size() + 1);
    list.push_back(value);
}

template <class List>
void append(List& list, std::span<const typename List::value_type> values) {
    make_room(list, list.size() + values.size());
    list.insert(list.end(), values.begin(), values.end());
}

}  // namespace ranvier
