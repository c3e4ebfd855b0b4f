/** Checks the size of a value, stopping at a limit. */

/** Counts characters, keys, values and bytes, and stops at the limit. */
export function weighsMore(value: unknown, most: number): boolean {
  let left = most
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    left -= typeof next === 'string' || next instanceof Uint8Array ? next.length : 1
    if (left < 0) return true
    if (typeof next !== 'object' || next === null || next instanceof Uint8Array) continue
    // skips long lists without visiting their items
    if (Array.isArray(next) && next.length > left) return true
    for (const [key, part] of Object.entries(next)) {
      left -= Array.isArray(next) ? 0 : key.length
      open.push(part)
    }
  }
  return false
}
