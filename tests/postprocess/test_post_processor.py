"""What a module states about its method of post-processing."""

from importlib import import_module

import pytest

from sottovoce.errors import ParameterError
from sottovoce.postprocess.apply import known_methods, methods
from sottovoce.postprocess.base import PostProcessor

MODULES = {"base": "unprocessed"}  # base.py holds the contract


@pytest.mark.parametrize("name", methods())
def test_a_method_is_stated_by_the_module_of_its_name(name):
    method = known_methods()[name]
    module = import_module(method.rule_for.__module__)
    assert module.__name__ == f"sottovoce.postprocess.{MODULES.get(name, name.replace('-', '_'))}"
    assert module.METHOD is method
    assert method.rule_for is module.rule_for
    assert method.label == f"{name}: {method.summary}"


def test_methods_that_need_more_are_left_out_where_it_is_missing():
    whole = set(methods()) - set(methods(whole_domain=False))
    assert whole == {name for name, method in known_methods().items() if method.needs_whole_domain}
    equal = set(methods()) - set(methods(equal_errors=False))
    assert equal == {name for name, method in known_methods().items() if method.needs_equal_errors}
    assert {"base-cut", "mle-apx", "power", "power-ns"} <= equal


@pytest.mark.parametrize("name", ["", "Norm", "norm sub"])
def test_a_name_is_lower_case_without_spaces(name):
    with pytest.raises(ParameterError, match="`name`"):
        PostProcessor(name, "something", lambda estimate: None)
