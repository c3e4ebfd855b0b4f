/** Shortens results for assistants: the beginning of long lists and texts, and what was left out. */
import { isPlainObject } from '#kernel'

const MAX_ITEMS = 100
const MAX_TEXT = 4_000
const MAX_LEVELS = 40
const MAX_LEFT_OUT = 50

export interface LeftOut {
  /** JSON pointer into the result */
  readonly path: string
  readonly shown: number
  readonly of: number
}

/** Returns a copy of plain JSON. `leftOut` names the lists and texts that are shown in part, at most 50. */
export function shortened(result: object): {
  readonly value: Record<string, unknown>
  readonly leftOut: readonly LeftOut[]
} {
  const leftOut: LeftOut[] = []
  const note = (path: string, shown: number, of: number): void => {
    if (leftOut.length < MAX_LEFT_OUT) leftOut.push({ path, shown, of })
  }
  const short = (value: unknown, path: string, level: number): unknown => {
    if (typeof value === 'string') {
      if (value.length <= MAX_TEXT) return value
      note(path, MAX_TEXT, value.length)
      return value.slice(0, MAX_TEXT)
    }
    if (typeof value !== 'object' || value === null) return value
    const size = Array.isArray(value) ? value.length : Object.keys(value).length
    const most = level >= MAX_LEVELS ? 0 : MAX_ITEMS
    if (size > most) note(path, most, size)
    if (Array.isArray(value)) return value.slice(0, most).map((item, i) => short(item, `${path}/${i}`, level + 1))
    const entries = Object.entries(value).slice(0, most)
    return Object.fromEntries(entries.map(([key, item]) => [key, short(item, `${path}/${key}`, level + 1)]))
  }
  const value = short(result, '', 0)
  return { value: isPlainObject(value) ? value : { value }, leftOut }
}
