/** Finds duplicate keys in the objects of a JSON text; JSON.parse would keep only the last value of each. */

export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const part of value) count += countKeys(part)
    return count
  }
  for (const key in value) {
    const part = (value as Readonly<Record<string, unknown>>)[key]
    count += typeof part === 'object' ? 1 + countKeys(part) : 1
  }
  return count
}

/** Current object or list of the walk: the last key and the keys so far, or the index in the list. */
interface Level {
  step: string | number
  readonly keys: Set<string> | undefined
}

const STRING_AND_COLON = /"((?:[^"\\]|\\.)*)"\s*(:?)/sy

/** Returns the paths of duplicate keys, one per repetition. `text` must be valid JSON. */
export function repeatedKeysOf(text: string): readonly (readonly (string | number)[])[] {
  const found: (string | number)[][] = []
  const levels: Level[] = []
  for (let i = 0; i < text.length;) {
    const char = text[i] ?? ''
    const level = levels.at(-1)
    if (char === '"') {
      STRING_AND_COLON.lastIndex = i
      const [whole, inner = '', colon] = STRING_AND_COLON.exec(text) ?? [char]
      if (colon === ':' && level?.keys !== undefined) {
        level.step = JSON.parse(`"${inner}"`) as string
        if (level.keys.has(level.step)) found.push(levels.map(({ step }) => step))
        level.keys.add(level.step)
      }
      i += whole.length
      continue
    }
    if (char === '{') levels.push({ step: '', keys: new Set() })
    else if (char === '[') levels.push({ step: 0, keys: undefined })
    else if (char === '}' || char === ']') levels.pop()
    else if (char === ',' && typeof level?.step === 'number') level.step += 1
    i += 1
  }
  return found
}
