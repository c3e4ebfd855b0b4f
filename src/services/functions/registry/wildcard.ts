/** Compiles `*` and `?`; backtracks only to the last star, so matching takes linear time per star. */
export function wildcard(pattern: string): (text: string) => boolean {
  return (text) => {
    let at = 0
    let star = -1
    let mark = 0
    let i = 0
    while (i < text.length) {
      if (pattern[at] === '*') {
        star = at++
        mark = i
      } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[i])) {
        at++
        i++
      } else if (star >= 0) {
        at = star + 1
        i = ++mark
      } else return false
    }
    while (pattern[at] === '*') at++
    return at === pattern.length
  }
}
