/** Formats XML responses for signed addresses. */

export function xmlText(
  root: string,
  elements: Readonly<Record<string, string>>,
  name = '',
  items: readonly Readonly<Record<string, string>>[] = [],
): string {
  const inside = items.map((item) => `<${name}>${inner(item)}</${name}>`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${inner(elements)}${inside.join('')}</${root}>`
}

function inner(elements: Readonly<Record<string, string>>): string {
  return Object.entries(elements)
    .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
    .join('')
}

/** Escapes text, dropping control characters, which XML forbids even when escaped. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
