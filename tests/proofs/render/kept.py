"""What is printed and read once is kept: how to forget it."""

from proofs.render import declared, page_items
from proofs.render.inverse import definitions, latex, typst

KEPT = (declared._defining, page_items.declared_table, definitions._reader, latex.read, typst.read)


def forget():
    for kept in KEPT:
        kept.cache_clear()
