"""gelu: x -> x Phi(x), entry by entry, Phi being the distribution function of the normal distribution.

x (1 + erf(x / sqrt 2)) / 2 is admitted, as PyTorch computes it: its error is a few u |x|, absolutely. Where x is very
negative that is more than gelu(x) itself, while erfc keeps all digits; so what lies beyond the rounding of erfc passes
with a note on accuracy.
"""

from ._elementwise import Elementwise, common_properties
from ._gelu_mistakes import FITS, MISTAKES


class Gelu(Elementwise):
    name = "gelu"
    summary = "x Phi(x), entry by entry, with Phi = (1 + erf(x / sqrt 2)) / 2"
    gradient_theorem = "activations.gelu_derivative"
    mistakes = MISTAKES
    fits = FITS
    properties = common_properties("activations.gelu_odd_part", "activations.gelu_derivative")


CONTRACT = Gelu()
