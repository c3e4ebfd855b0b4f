/** Finds long runs of digits by looks far apart: an expression that matches them looks at every character. */

const [ZERO, NINE] = [48, 57] as const

/** Whether so many digits stand one behind the other. */
export function hasDigits(text: string, count: number): boolean {
  // each run of that length has one of these places in it
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
