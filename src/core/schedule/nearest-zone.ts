/** The time zone that a misspelt name most likely meant. */

const LONGEST = 64

/** The IANA name that looks most like the text, undefined when none does. A city alone finds its zone. */
export function nearestZone(text: string): string | undefined {
  const wanted = spelling(text.slice(0, LONGEST))
  if (wanted === '') return undefined
  let best: string | undefined
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const full = spelling(name)
    const city = full.slice(full.lastIndexOf('/') + 1)
    const distance = Math.min(editDistance(wanted, full, least), editDistance(wanted, city, least))
    if (distance < least) {
      least = distance
      best = name
    }
  }
  return best
}

function spelling(text: string): string {
  return text.toLowerCase().replaceAll(/[\s-]/g, '_')
}

/** Levenshtein's distance, or `limit` when it is not below that. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return Math.min(limit, row[b.length] ?? limit)
}
