/** Suggests the known name that a misspelled name most likely meant; undefined when none is similar. */

const MAX_LENGTH = 64
const MAX_CANDIDATES = 200

export function nearest(text: string, candidates: readonly string[]): string | undefined {
  if (text.length > MAX_LENGTH) return undefined
  let best: string | undefined
  // swapping two letters counts as two changes, which would be too many for a short name
  let bestDistance = Math.max(text.length > 3 ? 2 : 1, Math.floor(text.length / 3)) + 1
  for (const candidate of candidates.slice(0, MAX_CANDIDATES)) {
    if (candidate.length > MAX_LENGTH || candidate === text) continue
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + change))
    }
    row = next
  }
  return row[b.length] ?? 0
}
