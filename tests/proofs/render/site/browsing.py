"""Questions that are put to a page in Chromium, as JavaScript. Each answers with a list of what is wrong."""

UNFOLD = "() => { for (const one of document.querySelectorAll('details')) one.open = true; }"

# The page itself never scrolls sideways, and every formula can be seen whole: in the page, or by scrolling a box of its own.
# The width is the screen's: the window of a phone is made as wide as what is too wide for it.
CUT = """(width) => {
  const wrong = [];
  const range = document.createRange();
  const known = new Map();
  const flow = (element) => {
    if (!known.has(element)) {
      const { overflowX: x, overflowY: y } = getComputedStyle(element);
      known.set(element, [x, y]);
    }
    return known.get(element);
  };
  const beyond = document.scrollingElement.scrollWidth - width;
  if (beyond > 0) wrong.push(`the page is ${beyond} px too wide`);
  for (const math of document.querySelectorAll('math')) {
    range.selectNodeContents(math);  // since what is in a formula may reach beyond its own box
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const told = math.dataset.latex.slice(0, 60);
    for (let at = math.parentElement; at && at !== document.documentElement; at = at.parentElement) {
      const [overflowX, overflowY] = flow(at);
      if (overflowX === 'visible') continue;
      const around = at.getBoundingClientRect();
      const reached = ['auto', 'scroll'].includes(overflowX) ? at.scrollWidth - at.scrollLeft : at.clientWidth;
      if (box.left < around.left - at.scrollLeft - 1 || box.right > around.left + reached + 1) wrong.push(`cut sideways: ${told}`);
      if (overflowY !== 'visible' && at.scrollHeight > at.clientHeight + 2) wrong.push(`cut above or below: ${told}`);
      break;
    }
    if (box.right > width + 1 && !math.closest('.formula, .line, .reason, .symbols, .met, .refusal p')) wrong.push(`outside: ${told}`);
  }
  return [...new Set(wrong)];
}"""

# An index is set smaller than what it hangs on, and below its middle; an exponent smaller, and above it.
SCRIPTS = """() => {
  const wrong = [];
  const size = (element) => parseFloat(getComputedStyle(element).fontSize);
  const middle = (box) => (box.top + box.bottom) / 2;
  for (const [tags, scripts] of [['msub', ['sub']], ['msup', ['sup']], ['msubsup', ['sub', 'sup']]]) {
    for (const element of document.querySelectorAll(tags)) {
      const base = element.children[0];
      if (!element.getBoundingClientRect().width) continue;
      scripts.forEach((kind, k) => {
        const script = element.children[k + 1];
        const told = `${kind} in ${element.closest('math').dataset.latex.slice(0, 60)}`;
        const deepest = size(base) <= 0.51 * size(element.closest('math'));  // no script is smaller than that
        if (!(size(script) < size(base)) && !deepest) wrong.push(`not smaller: ${told}`);
        const [under, over] = [script, base].map((e) => middle(e.getBoundingClientRect()));
        if (kind === 'sub' ? under <= over : under >= over) wrong.push(`not ${kind === 'sub' ? 'below' : 'above'}: ${told}`);
      });
    }
  }
  return [...new Set(wrong)];
}"""

# Brackets that were given a size are as tall as their partners.
BRACKETS = """() => {
  const wrong = [];
  for (const math of document.querySelectorAll('math.long')) {
    const open = [];
    for (const bracket of math.querySelectorAll('mo[minsize]')) {
      const height = bracket.getBoundingClientRect().height;
      if (bracket.getAttribute('form') === 'prefix') open.push(height);
      else if (height && Math.abs(open.pop() - height) > 1) wrong.push(`uneven brackets: ${math.dataset.latex.slice(0, 60)}`);
    }
  }
  return wrong;
}"""

# Every text has the contrast that WCAG AA asks for: 4.5, and 3 where it is large.
FAINT = """() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const colour = (text) => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = colour(getComputedStyle(at).backgroundColor);
      if (found[3] === 1) return found;
    }
    return [255, 255, 255, 1];
  };
  const wrong = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('script, style, title, desc, .told, .skip, .hidden, [hidden]')) continue;
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const svg = element.namespaceURI.endsWith('svg');
    const front = colour(svg ? style.fill : style.color);
    const [light, dark] = [luminance(front), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) wrong.add(`${ratio.toFixed(2)} for <${element.tagName} class="${element.getAttribute('class') || ''}">`);
  }
  return [...wrong];
}"""

READY = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  document.body.getBoundingClientRect();
  done(performance.now());
})))"""
