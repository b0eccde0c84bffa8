r"""The dot product of two encodings, and their distance.

Definitions   similarity(w, p, q)              the dot product of PE_p and PE_q
Statements    similarity_depends_on_offset     <PE_p, PE_q> = sum_m cos(w_m (p - q))
              similarity_is_even               it is the same for q - p
              norm_squared                     <PE_p, PE_p> = M
              squared_distance                 |PE_p - PE_q|^2 = 2M - 2 sum_m cos(w_m (p - q))
Scope         Any frequencies w, any number M >= 1 of pairs, any real position and shift, unless a line says otherwise.
Reference     Vaswani et al. 2017, section 3.5, which states the shift without proof; Kazemnejad 2019 for the elimination.
"""

from ..notation import Definition, M, cos, eq, sin, sum_
from ..registry import theorem
from .positional_encoding import a, m, p, pair, q, w, waves

similarity = Definition(
    "similarity", [w, p, q], sum_(m, sum_(a, pair(w, m, p, a) * pair(w, m, q, a))), says="<PE_p, PE_q>"
)


def cosines(offset):
    return sum_(m, cos(w[m] * offset))


@theorem(eq(similarity(w, p, q), cosines(p - q)), near_miss=cosines(p + q))
def similarity_depends_on_offset(proof):
    "The dot product of two encodings depends on the offset of their positions alone."
    proof.equals(sum_(m, sum_(a, waves(w[m] * p, a) * waves(w[m] * q, a))), "definition", of=(similarity, pair))
    proof.equals(sum_(m, sin(w[m] * p) * sin(w[m] * q) + cos(w[m] * p) * cos(w[m] * q)), "finite_sum")
    proof.closes("congruence", then="angles")


@theorem(eq(similarity(w, p, q), cosines(q - p)), near_miss=-cosines(q - p))
def similarity_is_even(proof):
    "A step back is as similar as a step forth."
    proof.equals(cosines(p - q), similarity_depends_on_offset)
    proof.closes("congruence", then="angles")


@theorem(eq(similarity(w, p, p), M), near_miss=2 * M)
def norm_squared(proof):
    "Every encoding has the squared length M = d/2."
    proof.equals(cosines(p - p), similarity_depends_on_offset, at={q: p})
    proof.equals(sum_(m, 1), "congruence", then="angles")
    proof.closes("finite_sum")


apart = sum_(m, sum_(a, (pair(w, m, p, a) - pair(w, m, q, a)) ** 2))


@theorem(eq(apart, 2 * M - 2 * cosines(p - q)), near_miss=2 * M + 2 * cosines(p - q))
def squared_distance(proof):
    "The squared distance of two encodings."

    def product(s, t):
        return sum_(m, sum_(a, pair(w, m, s, a) * pair(w, m, t, a)))

    proof.equals(product(p, p) + product(q, q) - 2 * product(p, q), "finite_sum")
    proof.equals(similarity(w, p, p) + similarity(w, q, q) - 2 * similarity(w, p, q), "definition", of=similarity)
    proof.equals(similarity(w, p, p) + similarity(w, q, q) - 2 * cosines(p - q), similarity_depends_on_offset)
    proof.equals(M + similarity(w, q, q) - 2 * cosines(p - q), norm_squared)
    proof.equals(M + M - 2 * cosines(p - q), norm_squared, at={p: q})
    proof.closes("ring")
