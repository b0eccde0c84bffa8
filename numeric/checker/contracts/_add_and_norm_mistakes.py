"""What goes wrong around a sublayer: formulas, each with what it breaks. LN is layer normalisation, f the sublayer."""

from collections.abc import Callable
from typing import Any

from ..mistake import Fit, Formula, Instability, Mistake, Variant
from . import _layer_norm_mistakes as norms
from ._norm_emulations import narrow_row_sums, one_pass
from ._norm_formulas import Part, Parts, dbias, dgain, layer_norm_dx, layer_norm_parts, mean
from ._sublayer import Sublayer


class Block:
    """x, f and LN of one call; `normalise` is what LN does before gain and bias."""

    def __init__(self, x: Any, weights: Any, gain: Any, bias: Any, eps: Any, normalise: Any = norms.right) -> None:
        self.x, self.gain, self.bias, self.eps = x, gain, bias, eps
        self.f, self.normalise = Sublayer(weights), normalise

    @property
    def sum(self) -> Any:
        return self.x + self.f(self.x)

    def norm(self, z: Any) -> Any:
        return self.normalise(z, self.eps) * self.gain + self.bias


class Backward(Block):
    """... and the way back."""

    def __init__(self, dy: Any, x: Any, weights: Any, gain: Any, bias: Any, eps: Any, dx: Part = layer_norm_dx) -> None:
        super().__init__(x, weights, gain, bias, eps)
        self.dy, self._dx = dy, dx

    @property
    def u(self) -> Any:
        return self.norm(self.x)

    def through_norm(self, z: Any, dn: Any) -> tuple[Any, Any, Any]:
        """The gradients for z, gain and bias."""
        p = layer_norm_parts(dn, z, self.gain, self.bias, self.eps)
        return self._dx(p), dgain(p), dbias(p)


def _forward(post: Callable[[Block], Any], pre: Callable[[Block], Any]) -> Formula:
    def formula(x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
        return (post if order == "post" else pre)(Block(x, weights, gain, bias, eps))

    return formula


def _right_post(b: Block) -> Any:
    return b.norm(b.sum)


def _right_pre(b: Block) -> Any:
    return b.x + b.f(b.norm(b.x))


def _with_norm(normalise: Callable[[Any, Any], Any]) -> Formula:
    def formula(x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
        block = Block(x, weights, gain, bias, eps, normalise)
        return _right_post(block) if order == "post" else _right_pre(block)

    return formula


def _with_parameters(change: Callable[[Any, Any], tuple[Any, Any]]) -> Formula:
    def formula(x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
        block = Block(x, weights, *change(gain, bias), eps)
        return _right_post(block) if order == "post" else _right_pre(block)

    return formula


def _both_norms(b: Block) -> Any:
    return b.norm(b.x + b.f(b.norm(b.x)))


def _norm_of_sublayer(b: Block) -> Any:
    return b.x + b.norm(b.f(b.x))


Gradients = Callable[[Backward], tuple[Any, Any, Any]]


def _backward(post: Gradients, pre: Gradients) -> Formula:
    def formula(dy: Any, x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
        return (post if order == "post" else pre)(Backward(dy, x, weights, gain, bias, eps))

    return formula


def _with_dx(dx: Part) -> Formula:
    """A wrong gradient inside LN."""

    def formula(dy: Any, x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
        return (_back_post if order == "post" else _back_pre)(Backward(dy, x, weights, gain, bias, eps, dx))

    return formula


def _back_post(b: Backward) -> tuple[Any, Any, Any]:
    ds, *parameters = b.through_norm(b.sum, b.dy)
    return (ds + b.f.vjp(b.x, ds), *parameters)


def _back_pre(b: Backward) -> tuple[Any, Any, Any]:
    dx, *parameters = b.through_norm(b.x, b.f.vjp(b.u, b.dy))
    return (b.dy + dx, *parameters)


def _post(combine: Callable[[Backward, Any], Any]) -> Gradients:
    """combine(b, ds) for dx."""

    def gradients(b: Backward) -> tuple[Any, Any, Any]:
        ds, *parameters = b.through_norm(b.sum, b.dy)
        return (combine(b, ds), *parameters)

    return gradients


def _pre(combine: Callable[[Backward, Any, Any], Any]) -> Gradients:
    """combine(b, du, dx through LN) for dx."""

    def gradients(b: Backward) -> tuple[Any, Any, Any]:
        du = b.f.vjp(b.u, b.dy)
        dx, *parameters = b.through_norm(b.x, du)
        return (combine(b, du, dx), *parameters)

    return gradients


def _post_at_x(b: Backward) -> tuple[Any, Any, Any]:
    ds, *parameters = b.through_norm(b.x, b.dy)
    return (ds + b.f.vjp(b.x, ds), *parameters)


def _pre_at_x(b: Backward) -> tuple[Any, Any, Any]:
    dx, *parameters = b.through_norm(b.x, b.f.vjp(b.x, b.dy))
    return (b.dy + dx, *parameters)


def _pre_parameters_of_dy(b: Backward) -> tuple[Any, Any, Any]:
    _, *parameters = b.through_norm(b.x, b.dy)
    return (_back_pre(b)[0], *parameters)


def _pre_skip_normalised(b: Backward) -> tuple[Any, Any, Any]:
    return b.through_norm(b.x, b.dy + b.f.vjp(b.u, b.dy))


def _swapped(gradients: Gradients) -> Gradients:
    def formula(b: Backward) -> tuple[Any, Any, Any]:
        dx, of_gain, of_bias = gradients(b)
        return dx, of_bias, of_gain

    return formula


class Narrow(Backward):
    """... where dgain and dbias are added up in the dtype."""

    def through_norm(self, z: Any, dn: Any) -> tuple[Any, Any, Any]:
        return narrow_row_sums(dn, z, self.gain, self.bias, self.eps)


def _narrow_row_sums(dy: Any, x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
    return (_back_post if order == "post" else _back_pre)(Narrow(dy, x, weights, gain, bias, eps))


def _without_gain(p: Parts) -> Any:
    return layer_norm_dx(p._replace(gain=1))


MISTAKES = (
    Variant("add_and_norm.pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", "residual_norm.pre_norm_without_branch", _forward(_right_pre, _right_pre), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant("add_and_norm.post_norm", "is post-norm, LN(x + f(x)), whatever order says", "residual_norm.post_norm_without_branch", _forward(_right_post, _right_post), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant("add_and_norm.norm_of_sublayer", "normalises what the sublayer returns, x + LN(f(x)), as Swin Transformer V2", "residual_norm.post_norm_without_branch", _forward(_norm_of_sublayer, _norm_of_sublayer), converter="Only weights trained so can be used with it: take LN around the sum, or in front of f"),
    Variant("add_and_norm.both_norms", "normalises before the sublayer and after the sum, LN(x + f(LN(x)))", "residual_norm.post_norm_without_branch", _forward(_both_norms, _both_norms), converter="Only weights trained so can be used with it: leave out one of the two"),
    Mistake("add_and_norm.order_swapped", 'takes "pre" for "post" and "post" for "pre"', "residual_norm.pre_norm_without_branch", _forward(_right_pre, _right_post)),
    Mistake("add_and_norm.skip_normalised", "takes LN(x) for the skip path of pre-norm: LN(x) + f(LN(x))", "residual_norm.pre_norm_without_branch", _forward(_right_post, lambda b: b.norm(b.x) + b.f(b.norm(b.x)))),
    Mistake("add_and_norm.norm_not_used", "gives x, not LN(x), to the sublayer of pre-norm", "residual_norm.pre_norm_along_a_curve", _forward(_right_post, lambda b: b.sum)),
    Mistake("add_and_norm.no_norm", "does not normalise: x + f(x)", "residual_norm.post_norm_without_branch", _forward(lambda b: b.sum, lambda b: b.sum)),
    Mistake("add_and_norm.no_skip", "leaves out the skip path: LN(f(x)), or f(LN(x))", "residual.residual_jacobian", _forward(lambda b: b.norm(b.f(b.x)), lambda b: b.f(b.norm(b.x)))),
    Mistake("add_and_norm.no_sublayer", "leaves out the sublayer: LN(x), or x", "residual_norm.post_norm_along_a_curve", _forward(lambda b: b.norm(b.x), lambda b: b.x + 0 * b.gain)),
    Mistake("add_and_norm.skip_twice", "adds x twice", "residual.residual_jacobian", _forward(lambda b: b.norm(b.x + b.sum), lambda b: b.x + _right_pre(b))),
    Mistake("add_and_norm.sublayer_twice", "adds the sublayer's output twice", "residual_norm.post_norm_along_a_curve", _forward(lambda b: b.norm(b.sum + b.f(b.x)), lambda b: _right_pre(b) + b.f(b.norm(b.x)))),
    Mistake("add_and_norm.sublayer_subtracted", "subtracts the sublayer's output", "residual_norm.post_norm_along_a_curve", _forward(lambda b: b.norm(b.x - b.f(b.x)), lambda b: b.x - b.f(b.norm(b.x)))),
    Mistake("add_and_norm.sublayer_multiplied", "multiplies by the sublayer's output instead of adding it", "residual.residual_jacobian", _forward(lambda b: b.norm(b.x * b.f(b.x)), lambda b: b.x * b.f(b.norm(b.x)))),
    Mistake("add_and_norm.norm_twice", "normalises twice in a row", "residual_norm.post_norm_without_branch", _forward(lambda b: b.norm(_right_post(b)), lambda b: b.x + b.f(b.norm(b.norm(b.x))))),
    Mistake("add_and_norm.skip_outside_norm", "adds x after the norm of the sum too: x + LN(x + f(x))", "residual_norm.post_norm_without_branch", _forward(lambda b: b.x + _right_post(b), _right_pre)),
    Mistake("add_and_norm.unbiased_variance", "divides the variance by d - 1", "layer_norm_scale.unbiased_variance_ratio", _with_norm(norms.unbiased_variance)),
    Mistake("add_and_norm.eps_outside_root", "adds eps to the root, not under it", "layer_norm.variance", _with_norm(norms.eps_outside)),
    Mistake("add_and_norm.unbiased_deviation_plus_eps", "divides by the unbiased deviation plus eps, as x.std() + eps does", "layer_norm_scale.unbiased_variance_ratio", _with_norm(norms.unbiased_deviation_plus_eps)),
    Mistake("add_and_norm.no_eps", "adds no eps", "layer_norm.variance", _with_norm(norms.without_eps)),
    Mistake("add_and_norm.no_mean", "subtracts no mean, as RMS normalisation", "layer_norm.mean_is_zero", _with_norm(norms.without_mean)),
    Mistake("add_and_norm.no_gain", "does not multiply by gain", "layer_norm_jacobian.jacobian_with_gain", _with_parameters(lambda gain, bias: (1 + 0 * gain, bias))),
    Mistake("add_and_norm.no_bias", "does not add bias", "layer_norm_gradients.bias_gradient", _with_parameters(lambda gain, bias: (gain, 0 * bias))),
    Mistake("add_and_norm.gain_for_bias", "takes bias for gain and gain for bias", "layer_norm_jacobian.jacobian_with_gain", _with_parameters(lambda gain, bias: (bias, gain))),
    Mistake("add_and_norm.gradient_order_swapped", 'is that of "pre" for "post", and that of "post" for "pre"', "residual_norm.post_norm_along_a_curve", _backward(_back_pre, _back_post), "gradients"),
    Mistake("add_and_norm.gradient_without_sublayer", "leaves out the way back through the sublayer", "residual_norm.post_norm_along_a_curve", _backward(_post(lambda b, ds: ds), _pre(lambda b, du, dx: b.dy)), "gradients"),
    Mistake("add_and_norm.gradient_without_skip", "leaves out the way back along the skip path", "residual.residual_jacobian", _backward(_post(lambda b, ds: b.f.vjp(b.x, ds)), _pre(lambda b, du, dx: dx)), "gradients"),
    Mistake("add_and_norm.gradient_skip_past_norm", "lets the skip path of post-norm bring dy, not what comes back through the norm", "residual_norm.post_norm_loses_the_mean_direction", _backward(_post(lambda b, ds: b.dy + b.f.vjp(b.x, ds)), _back_pre), "gradients"),
    Mistake("add_and_norm.gradient_sublayer_past_norm", "lets the sublayer's way leave out the norm", "residual_norm.post_norm_along_a_curve", _backward(_post(lambda b, ds: ds + b.f.vjp(b.x, b.dy)), _pre(lambda b, du, dx: b.dy + du)), "gradients"),
    Mistake("add_and_norm.gradient_past_norm", "leaves out the norm altogether: dy + f'(x)^T dy", "residual_norm.post_norm_along_a_curve", _backward(_post(lambda b, ds: b.dy + b.f.vjp(b.x, b.dy)), _pre(lambda b, du, dx: b.dy + b.f.vjp(b.x, b.dy))), "gradients"),
    Mistake("add_and_norm.gradient_skip_normalised", "sends the skip path of pre-norm through the norm too", "residual_norm.pre_norm_keeps_the_mean_direction", _backward(_back_post, _pre_skip_normalised), "gradients"),
    Mistake("add_and_norm.gradient_of_sublayer_at_x", "differentiates the sublayer of pre-norm at x, not at LN(x)", "residual_norm.pre_norm_along_a_curve", _backward(_back_post, _pre_at_x), "gradients"),
    Mistake("add_and_norm.gradient_of_sublayer_at_sum", "differentiates the sublayer of post-norm at x + f(x), not at x", "residual_norm.post_norm_along_a_curve", _backward(_post(lambda b, ds: ds + b.f.vjp(b.sum, ds)), _back_pre), "gradients"),
    Mistake("add_and_norm.gradient_of_norm_at_x", "differentiates the norm of post-norm at x, not at x + f(x)", "residual_norm.post_norm_along_a_curve", _backward(_post_at_x, _back_pre), "gradients"),
    Mistake("add_and_norm.gradient_of_parameters_from_dy", "takes dgain and dbias of pre-norm from dy, not from what comes back through the sublayer", "layer_norm_gradients.gain_gradient", _backward(_back_post, _pre_parameters_of_dy), "gradients"),
    Mistake("add_and_norm.dgain_for_dbias", "returns dbias for dgain and dgain for dbias", "layer_norm_gradients.gain_gradient", _backward(_swapped(_back_post), _swapped(_back_pre)), "gradients"),
    Mistake("add_and_norm.gradient_without_mean", "leaves out the mean of g in the norm", "layer_norm_gradients.gradient_sums_to_zero", _with_dx(lambda p: p.after(p.x_hat * p.overlap)), "gradients"),
    Mistake("add_and_norm.gradient_without_x_hat", "leaves out the share along x^ in the norm", "layer_norm_gradients.euler_identity", _with_dx(lambda p: p.after(mean(p.g))), "gradients"),
    Mistake("add_and_norm.gradient_without_gain", "takes dy for g = gain dy in the norm", "layer_norm_gradients.vjp", _with_dx(_without_gain), "gradients"),
    Instability("add_and_norm.gradient_narrow_sums", "adds up dgain and dbias over the rows in 16 bits", "layer_norm_gradients.gain_gradient", _narrow_row_sums, "gradients", ("bfloat16", "float16"), narrow_sums=True),
    Instability("add_and_norm.one_pass_variance", "takes mean s^2 - (mean s)^2 for the variance, which cancels", "layer_norm.shift_invariance", _with_norm(one_pass), dtypes=("float64", "float32")),
)  # fmt: skip


def _with_eps(theta: Any, x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
    block = Block(x, weights, gain, bias, theta)
    return _right_post(block) if order == "post" else _right_pre(block)


def _with_skip(theta: Any, x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
    b = Block(x, weights, gain, bias, eps)
    return b.norm(x * theta + b.f(x)) if order == "post" else x * theta + b.f(b.norm(x))


def _with_branch(theta: Any, x: Any, weights: Any, gain: Any, bias: Any, *, order: str, eps: Any) -> Any:
    b = Block(x, weights, gain, bias, eps)
    return b.norm(x + b.f(x) * theta) if order == "post" else x + b.f(b.norm(x)) * theta


FITS = (
    Fit("eps", "the option's value", "layer_norm.variance", _with_eps, (1e-14, 1.0)),
    Fit("factor of x in the sum", "1", "residual.residual_jacobian", _with_skip, (1e-3, 1e3)),
    Fit("factor of f in the sum", "1", "residual.residual_jacobian", _with_branch, (1e-3, 1e3)),
)
