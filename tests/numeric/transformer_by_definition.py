"""The Transformer as its equations say, sequence by sequence and number by number, in balls: a witness without a layer.

There are no batches, no pads and no masks here: a row sees the keys it is given. A row is a list of balls. Vaswani et
al. 2017, sections 3.1 to 3.5; pre-norm is that of Xiong et al. 2020. relu only, no dropout.
"""

from flint import arb


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


def plus(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def linear(row, weights, bias=None):
    result = [dot(row, column) for column in zip(*weights, strict=True)]
    return result if bias is None else plus(result, bias)


def softmax(scores):
    exponentials = [score.exp() for score in scores]
    return [each / sum(exponentials, arb(0)) for each in exponentials]


def layer_norm(row, params, eps):
    mean = sum(row, arb(0)) / len(row)
    variance = sum(((x - mean) ** 2 for x in row), arb(0)) / len(row)
    root = (variance + arb(eps)).sqrt()
    return [g * (x - mean) / root + b for x, g, b in zip(row, params["gain"], params["bias"], strict=True)]


def attention(rows, keys_of, params, config):
    """Row i attends to the rows keys_of(i)."""
    width, result = config.d_model // config.n_heads, []
    for i, row in enumerate(rows):
        query = linear(row, params["w_q"], params.get("b_q"))
        keys = [linear(seen, params["w_k"], params.get("b_k")) for seen in keys_of(i)]
        values = [linear(seen, params["w_v"], params.get("b_v")) for seen in keys_of(i)]
        heads = []
        for head in range(config.n_heads):
            group = head // (config.n_heads // (config.n_groups or config.n_heads))
            own, shared = (slice(width * at, width * (at + 1)) for at in (head, group))
            weights = softmax([dot(query[own], key[shared]) / arb(width).sqrt() for key in keys])
            heads += [dot(weights, column) for column in zip(*(value[shared] for value in values), strict=True)]
        result.append(linear(heads, params["w_o"], params.get("b_o")))
    return result


def feed_forward(rows, params):
    hidden = [[x if x > 0 else arb(0) for x in linear(row, params["W_1"], params["b_1"])] for row in rows]
    return [linear(row, params["W_2"], params["b_2"]) for row in hidden]


def connected(rows, sublayer, norm, config):
    if config.norm == "post":
        return [layer_norm(plus(x, f), norm, config.eps) for x, f in zip(rows, sublayer(rows), strict=True)]
    normed = [layer_norm(row, norm, config.eps) for row in rows]
    return [plus(x, f) for x, f in zip(rows, sublayer(normed), strict=True)]


def stack(rows, params, config, causal, memory=None):
    for layer in params["layers"]:

        def to_itself(u, layer=layer):
            return attention(u, lambda i: u[: i + 1] if causal else u, layer["self_attention"], config)

        rows = connected(rows, to_itself, layer["self_attention_norm"], config)
        if memory is not None:

            def to_memory(u, layer=layer):
                return attention(u, lambda i: memory, layer["cross_attention"], config)

            rows = connected(rows, to_memory, layer["cross_attention_norm"], config)
        rows = connected(
            rows, lambda u, layer=layer: feed_forward(u, layer["feed_forward"]), layer["feed_forward_norm"], config
        )
    return [layer_norm(row, params["norm"], config.eps) for row in rows] if "norm" in params else rows


def embedded(tokens, table, config):
    rows, d = [], config.d_model
    for position, token in enumerate(tokens):
        angles = [arb(position) / arb(config.base) ** (arb(2 * i) / d) for i in range(d // 2)]
        encoding = [wave for angle in angles for wave in (angle.sin(), angle.cos())]
        rows.append(plus([arb(d).sqrt() * entry for entry in table[token]], encoding))
    return rows


def logits(params, src, tgt_in, config):
    """For one sequence: lists of tokens without pads, or None."""
    table, memory = params["embedding"]["table"], None
    if src is not None:
        rows = memory = stack(embedded(src, table, config), params["encoder"], config, causal=False)
    if tgt_in is not None:
        rows = stack(embedded(tgt_in, table, config), params["decoder"], config, causal=True, memory=memory)
    return [[dot(row, entry) for entry in table] for row in rows]


def losses(rows, targets, smoothing):
    """The cross-entropy of each row, its target softened over all classes alike."""
    result = []
    for row, target in zip(rows, targets, strict=True):
        log_p = [p.log() for p in softmax(row)]
        result.append(-(1 - arb(smoothing)) * log_p[target] - arb(smoothing) * sum(log_p, arb(0)) / len(row))
    return result
