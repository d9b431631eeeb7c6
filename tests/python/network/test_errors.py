"""Errors hold what their messages tell, also when they are pickled."""

from __future__ import annotations

import pickle

import pytest

import ranvier as rv
from ranvier import errors


@pytest.mark.parametrize(
    "name", [name for name in errors.__all__ if issubclass(getattr(errors, name), errors.RanvierError)]
)
def test_errors_keep_their_fields_when_pickled(name: str) -> None:
    kind = getattr(errors, name)
    error = kind("thing", "3", "it must be 4", "give 4")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (copy.object, copy.value, copy.bound, copy.remedy) == ("thing", "3", "it must be 4", "give 4")
    sentence = "thing it must be 4, not 3" if name == "WrongTypeError" else "thing is 3, but it must be 4"
    assert str(copy) == f"{sentence}; give 4"
    assert isinstance(error, errors.RanvierError)


def test_the_message_is_put_together_as_in_the_core() -> None:
    with pytest.raises(errors.ValueOutOfBoundsError) as caught:
        rv.Network(resolution=-1.0)
    error = caught.value
    assert str(error) == f"{error.object} is {error.value}, but {error.bound}; {error.remedy}"
    assert str(errors.StateError("thing", bound="it cannot be")) == "thing: it cannot be"
