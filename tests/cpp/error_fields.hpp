#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier {

/// Expects that a call throws an error of this type with object, bound and remedy, whose message has all of these
/// texts. Returns its fields.
template <class Expected, class Call>
ErrorFields fields_of(Call call, const std::vector<std::string>& texts = {}) {
    try {
        call();
        ADD_FAILURE() << "accepted; expected an error" << (texts.empty() ? "" : " with: " + texts.front());
    } catch (const Expected& error) {
        for (const std::string& text : texts) {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what() << "\nlacks: " << text;
        }
        EXPECT_FALSE(error.fields().object.empty());
        EXPECT_FALSE(error.fields().bound.empty());
        EXPECT_FALSE(error.fields().remedy.empty());
        return error.fields();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another error: " << error.what();
    }
    return {};
}

}  // namespace ranvier
