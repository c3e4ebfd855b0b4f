/** Orders text by code point, as SQLite's BINARY and PostgreSQL's COLLATE "C" do; `<` compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return codePointRank(x) - codePointRank(y)
  }
  return a.length - b.length
}

export function compareValues(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return compareText(String(a), String(b))
}

/** Ranks a UTF-16 unit; surrogates encode the highest code points. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** Returns a text as `contains` compares it: Unicode lower case, with both small sigmas made equal. */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}
