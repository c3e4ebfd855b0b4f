/** The document of the editor: text with undo, places of JSON pointers in it, and corrections. */

export interface PatchOperation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
  readonly from?: string
}

/** Returns the keys of a JSON pointer. */
export function keysOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export interface Place {
  readonly from: number
  readonly to: number
}

/** Returns the place of the value at a pointer in JSON text, or of the nearest value above it. */
export function placeOf(text: string, pointer: string): Place {
  let at = 0
  const blank = (): void => {
    while (at < text.length && /\s/.test(text.charAt(at))) at++
  }
  const string = (): string => {
    const from = at++
    while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
    at++
    try {
      return JSON.parse(text.slice(from, at)) as string
    } catch {
      return ''
    }
  }
  const value = (wanted: readonly string[]): Place => {
    blank()
    const from = at
    const sign = text.charAt(at)
    let inner: Place | undefined
    if (sign === '"') string()
    else if (sign === '{' || sign === '[') {
      const close = sign === '{' ? '}' : ']'
      at++
      for (let index = 0; at < text.length; index++) {
        blank()
        if (text.charAt(at) === close) break
        const key = sign === '{' ? string() : String(index)
        if (sign === '{') {
          blank()
          at++
        }
        const isWanted = wanted.length > 0 && key === wanted[0]
        const place = value(isWanted ? wanted.slice(1) : [])
        if (isWanted) inner = place
        blank()
        if (text.charAt(at) === ',') at++
        else break
      }
      blank()
      at++
    } else while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at++
    return inner ?? { from: Math.min(from, text.length), to: Math.min(at, text.length) }
  }
  return value(keysOf(pointer))
}

/** Applies operations of JSON Patch (add, remove, replace, move) to a copy of the value. */
export function patched(document: unknown, operations: readonly PatchOperation[]): unknown {
  return operations.reduce((value, { op, path, value: given, from = '' }) => {
    const keys = keysOf(path)
    if (op === 'move')
      return changed(changed(value, keysOf(from), 'remove', undefined), keys, 'add', valueAt(value, keysOf(from)))
    return changed(value, keys, op, given)
  }, document)
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce(
    (one, key) =>
      typeof one === 'object' && one !== null ? (one as Readonly<Record<string, unknown>>)[key] : undefined,
    value,
  )
}

function changed(value: unknown, keys: readonly string[], op: string, replacement: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return replacement
  if (Array.isArray(value)) {
    const list = Array.from(value as readonly unknown[])
    const index = key === '-' ? list.length : Number(key)
    if (rest.length > 0) list[index] = changed(list[index], rest, op, replacement)
    else if (op === 'remove') list.splice(index, 1)
    else if (op === 'add') list.splice(index, 0, replacement)
    else list[index] = replacement
    return list
  }
  const entries = Object.entries(value ?? {})
  if (rest.length === 0 && op === 'remove') return Object.fromEntries(entries.filter(([name]) => name !== key))
  const next = rest.length === 0 ? replacement : changed(valueAt(value, [key]), rest, op, replacement)
  const isKnown = entries.some(([name]) => name === key)
  return Object.fromEntries(
    isKnown ? entries.map(([name, one]) => [name, name === key ? next : one]) : [...entries, [key, next]],
  )
}

/** Writes JSON with short lists and objects on one line. */
export function written(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || flat === undefined) return flat ?? 'null'
  const spaced = JSON.stringify(value, undefined, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll('[ ', '[')
    .replaceAll(' ]', ']')
  if (spaced.length + indent.length <= 72) return spaced
  const inner = `${indent}  `
  const [open, close, lines] = Array.isArray(value)
    ? ['[', ']', value.map((one) => written(one, inner))]
    : ['{', '}', Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${written(one, inner)}`)]
  return `${open}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${close}`
}

export interface History {
  readonly texts: readonly string[]
  readonly at: number
  /** epoch ms of the last entry, which typing extends for a moment */
  readonly time: number
}

const TYPING = 600
const MOST = 200

/** Adds a text. Typing within a moment is one entry; `isStep` makes it an entry of its own. */
export function recorded(history: History, text: string, time: number, isStep: boolean): History {
  const { texts, at } = history
  if (texts[at] === text) return history
  const isMore = !isStep && at > 0 && at === texts.length - 1 && time - history.time < TYPING
  const kept = texts.slice(0, isMore ? at : at + 1).slice(-MOST)
  return { texts: [...kept, text], at: kept.length, time: isStep ? 0 : time }
}
