"""Terms and statements as SymPy expressions, and back: for readers who work in SymPy, and as a third witness of the theorems.

No proof rests on this package: it alone imports SymPy here, and neither the kernel nor `import proofs` loads it.

to_sympy      In general: Sum over l = 0..n-1 of an Indexed z[l], KroneckerDelta(i, j, (0, n - 1)), an entry of a table as the sum of
              all entries times deltas. As an instance, sizes={n: 4}: sums written out, z as the plain symbols z_0, ..., z_3,
              every free index at a value. Either way definitions are unfolded, a curve z[j, t] is a Function with a Derivative
              for its velocity, and a derivative stays a Derivative (in Subs, where its point is not its own variable) until
              `doit()` takes it.
instances     The conclusion of a statement at every value of its free indices and index maps that its hypotheses allow.
from_sympy    The part of SymPy that this language has: numbers, symbols, +, *, powers, elementary functions, Indexed,
              KroneckerDelta, Sum over 0..size-1.

SymPy rearranges what it is given before anything here can see it: 0/x is 0, x - x is 0, (x + e)/(x + e) is 1, whatever x is.
So its form of a statement may say less than the statement, and `from_sympy` reads what SymPy kept.
"""

from .reader import from_sympy
from .writer import SympyFormError
from .written import instances, to_sympy

__all__ = ["SympyFormError", "from_sympy", "instances", "to_sympy"]
