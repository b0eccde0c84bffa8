"""The implementation under test: called with its own arrays, and held to shape, dtype and leaving its inputs alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .adapter import Adapter, NoGradient
from .contract import Contract, Inputs, Options
from .formats import FORMATS, Format
from .keywords import keywords_taken, required
from .watch import BrokenCall, told, watched


class Subject:
    """`forward` and, unless autograd serves, `backward`, behind the adapter. Calls raise BrokenCall or return float64 arrays."""

    def __init__(
        self,
        contract: Contract,
        forward: Callable[..., Any],
        backward: Callable[..., Any] | None,
        adapter: Adapter,
        form: Format,
    ) -> None:
        self._contract, self._adapter, self._form = contract, adapter, form
        self._forward, self._backward = forward, backward
        self.calls = 0
        self._forward_keywords: Mapping[str, str] = {}
        self._backward_keywords: Mapping[str, str] = {}
        self._forward_required, self._backward_required = required(forward), required(backward)

    @property
    def has_gradients(self) -> bool:
        return self._contract.differentiable and (self._backward is not None or self._adapter.autograd)

    def learn_keywords(self, inputs: Inputs, options: Options, shape: tuple[int, ...]) -> None:
        """Finds which options the implementation takes, by its signature, or by trying where that does not tell.

        Raises OutOfTime where a trial does not come back.
        """
        self._forward_keywords = self._backward_keywords = self.keywords_of_forward(inputs, options)
        if self._backward is not None:
            dy, count = np.ones(shape), len(self._contract.arguments(inputs)) + 1
            self._backward_keywords = keywords_taken(
                self._backward,
                list(options),
                self._adapter,
                count,
                lambda chosen: self._call_backward(dy, inputs, self._present(options), chosen),
            )

    def keywords_of_forward(self, inputs: Inputs, options: Options) -> Mapping[str, str]:
        """The contract's name of each option taken, and the keyword that it is taken by."""
        count = len(self._contract.arguments(inputs))
        return keywords_taken(
            self._forward,
            list(options),
            self._adapter,
            count,
            lambda chosen: self._call_forward(inputs, self._present(options), chosen),
        )

    def _present(self, options: Options) -> Options:
        """For a trial: what may be absent at its default has another value."""
        present = dict(options)
        for name, value in options.items():
            option = self._contract.option(name)
            if option.may_be_absent and value == option.default:
                present[name] = next((each for each in option.probed if each != option.default), value)
        return present

    def raw_output(self, inputs: Inputs, options: Options) -> Any:
        """Whatever a call returns, unchecked. Raises BrokenCall."""
        return self._call_forward(inputs, options, self.keywords_of_forward(inputs, options))

    def takes(self, option: str, backward: bool = False) -> bool:
        return option in (self._backward_keywords if backward else self._forward_keywords)

    def output(self, inputs: Inputs, options: Options, layout: str, shape: tuple[int, ...]) -> np.ndarray:
        self.calls += 1
        natives = self._natives(inputs, layout)
        keywords = self._named(options, self._forward_keywords, self._forward_required)
        result = self._watched(lambda: self._forward(*self._contract.arguments(natives), **keywords), "it")
        self._require_untouched(natives, inputs)
        return self._checked(result, shape, "it")

    def gradients(self, dy: np.ndarray, inputs: Inputs, options: Options, layout: str) -> list[np.ndarray]:
        return self.gradients_with_output(dy, inputs, options, layout)[1]

    def gradients_with_output(
        self, dy: np.ndarray, inputs: Inputs, options: Options, layout: str
    ) -> tuple[np.ndarray | None, list[np.ndarray]]:
        """The gradients, and the output of the call that they are the gradients of; without autograd, that of the call just before,
        which is made for contracts that draw at random."""
        output = None
        if self._backward is not None and self._contract.draws_at_random:
            output = self.output(inputs, options, layout, dy.shape)
        self.calls += 1
        natives = self._natives(inputs, layout)
        cotangent = self._adapter.array(dy, self._form.name, "contiguous")
        floating = [value for value, each in zip(inputs, self._contract.inputs, strict=True) if each.floating]
        if self._backward is None:
            result, results = self._autograd(natives, cotangent, options)
            output, who = self._checked(result, dy.shape, "it"), "autograd"
        else:
            keywords = self._named(options, self._backward_keywords, self._backward_required)
            backward, who = self._backward, "backward"
            results = self._watched(lambda: backward(cotangent, *self._contract.arguments(natives), **keywords), who)
            results = tuple(self._gradients_of(results if isinstance(results, tuple | list) else (results,)))
        if len(results) != len(floating):
            raise BrokenCall(
                f"{who} returned {len(results)} gradients, needed {len(floating)}: {self._floating_names()}"
            )
        self._require_untouched(natives, inputs)
        if not np.array_equal(self._adapter.values(cotangent), dy):
            raise BrokenCall(f"{who} changed its cotangent dy in place")
        checked = [self._checked(result, value.shape, who) for result, value in zip(results, floating, strict=True)]
        return output, checked

    def _autograd(self, natives: list[Any], cotangent: Any, options: Options) -> tuple[Any, tuple[Any, ...]]:
        keywords = self._named(options, self._forward_keywords, self._forward_required)
        floats = [place for place, each in enumerate(self._contract.inputs) if each.floating]
        # what is empty, as what a setting of the options has no use for, need not be on any path
        places = [place for place in floats if 0 not in tuple(natives[place].shape)]

        def output(floating: Sequence[Any]) -> Any:
            arrays = list(natives)
            for place, array in zip(places, floating, strict=True):
                arrays[place] = array
            result = self._forward(*self._contract.arguments(arrays), **keywords)
            self._require_fitting(result, tuple(cotangent.shape), "it")
            return result

        floating = [natives[place] for place in places]
        try:
            result, gradients = self._watched(
                lambda: self._adapter.gradients(output, floating, cotangent), "it or its autograd"
            )
        except BrokenCall as broken:
            if isinstance(broken.__cause__, BrokenCall | NoGradient):
                raise BrokenCall(str(broken.__cause__)) from broken.__cause__
            raise
        found = dict(zip(places, gradients, strict=True))
        return result, tuple(found.get(place, natives[place]) for place in floats)

    def _natives(self, inputs: Inputs, layout: str) -> list[Any]:
        return [
            self._adapter.array(each, self._form.name, layout) if isinstance(each, np.ndarray) else each
            for each in inputs
        ]

    def _named(self, options: Options, keywords: Mapping[str, str], required: frozenset[str]) -> Options:
        """The options by the implementation's keywords, arrays among them as its own; those left out that may be absent."""
        named = {}
        for name, value in options.items():
            if name not in keywords:
                continue
            keyword, option = keywords[name], self._contract.option(name)
            if isinstance(value, np.ndarray):
                named[keyword] = self._adapter.array(value, self._form.name, "contiguous")
            elif not (option.may_be_absent and value == option.default and keyword not in required):
                named[keyword] = value
        return named

    def _watched(self, call: Callable[[], Any], who: str) -> Any:
        def within() -> Any:
            with self._adapter.context():
                return call()

        return watched(within, who)

    def _gradients_of(self, results: Sequence[Any]) -> Sequence[Any]:
        try:
            return self._contract.gradients_of(results)
        except (ValueError, TypeError, KeyError) as error:
            raise BrokenCall(f"backward returned gradients packed otherwise than its inputs: {error}") from error

    def _floating_names(self) -> str:
        return ", ".join(each.name for each in self._contract.inputs if each.floating)

    def _require_untouched(self, natives: list[Any], inputs: Inputs) -> None:
        for native, given, each in zip(natives, inputs, self._contract.inputs, strict=True):
            if isinstance(given, np.ndarray) and not np.array_equal(
                self._read(native, f"it left its input {each.name} as an array"), given, equal_nan=True
            ):
                raise BrokenCall(f"it changed its input {each.name} in place; it must leave its inputs as they were")

    def _checked(self, result: Any, shape: tuple[int, ...], who: str) -> np.ndarray:
        self._require_fitting(result, shape, who)
        return self._read(result, f"{who} returned {self._adapter.array_name}")

    def _read(self, array: Any, what: str) -> np.ndarray:
        try:
            return self._adapter.values(array)
        except Exception as error:  # on a device of no memory, sparse, or deleted
            raise BrokenCall(f"{what} whose numbers cannot be read: {told(error)}") from error

    def _require_fitting(self, result: Any, shape: tuple[int, ...], who: str) -> None:
        if not self._adapter.owns_array(result):
            raise BrokenCall(f"{who} returned {_described(result)}, needed {self._adapter.array_name}")
        dtype = self._adapter.dtype_name(result)
        if dtype != self._form.name:
            hint = f'; if it always returns {dtype}, check it with dtype="{dtype}"' if dtype in FORMATS else ""
            raise BrokenCall(f"{who} returned dtype {dtype}, needed {self._form.name}, the dtype of this check{hint}")
        if tuple(result.shape) != tuple(shape):
            raise BrokenCall(f"{who} returned shape {tuple(result.shape)}, needed {tuple(shape)}")

    def _call_forward(self, inputs: Inputs, options: Options, chosen: Mapping[str, str]) -> Any:
        return self._watched(
            lambda: self._forward(
                *self._contract.arguments(self._natives(inputs, "contiguous")),
                **self._named(options, chosen, self._forward_required),
            ),
            "it",
        )

    def _call_backward(self, dy: np.ndarray, inputs: Inputs, options: Options, chosen: Mapping[str, str]) -> Any:
        assert self._backward is not None
        backward, cotangent = self._backward, self._adapter.array(dy, self._form.name, "contiguous")
        return self._watched(
            lambda: backward(
                cotangent,
                *self._contract.arguments(self._natives(inputs, "contiguous")),
                **self._named(options, chosen, self._backward_required),
            ),
            "backward",
        )


def _described(result: Any) -> str:
    if result is None:
        return "None (is a return statement missing?)"
    if isinstance(result, tuple):
        return f"a tuple of {len(result)} ({', '.join(type(each).__name__ for each in result[:4])})"
    return f"a {type(result).__name__}"
