"""Figures as SVG, drawn from what the layers compute: each with the theorems that it shows, in English or Korean.

python -m numeric figures --out DIR
"""
