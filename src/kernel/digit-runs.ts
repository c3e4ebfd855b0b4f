/** Finds long runs of digits by sampling; a regular expression would visit every character. */

const [ZERO, NINE] = [48, 57] as const

export function hasDigits(text: string, count: number): boolean {
  // every run of `count` digits covers one of these indexes
  for (let at = count - 1; at < text.length; at += count) {
    if (!isDigit(text, at)) continue
    let start = at
    while (start > 0 && isDigit(text, start - 1)) start -= 1
    let end = at + 1
    while (end < text.length && isDigit(text, end)) end += 1
    if (end - start >= count) return true
  }
  return false
}

function isDigit(text: string, at: number): boolean {
  const char = text.charCodeAt(at)
  return char >= ZERO && char <= NINE
}
