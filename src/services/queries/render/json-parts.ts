/** Streams JSON in parts, so that a large result never exists as one text and no part blocks the event loop. */
import type { Yielder } from '#kernel'

/** Length above which lists are streamed. */
const ITEMS = 500

/** A list whose items are created while it is written. */
export class LazyList {
  readonly length: number
  readonly #itemAt: (index: number) => unknown

  constructor(length: number, itemAt: (index: number) => unknown) {
    this.length = length
    this.#itemAt = itemAt
  }

  /** Returns the JSON of some items, without brackets. */
  textOf(from: number, until: number): string {
    const items: unknown[] = []
    for (let i = from; i < until; i += 1) items.push(this.#itemAt(i))
    return JSON.stringify(items).slice(1, -1)
  }
}

export async function* jsonParts(value: unknown, yielder: Yielder): AsyncGenerator<string> {
  let text = ''
  for (const piece of pieces(value)) {
    text += piece
    if (text.length >= PART) {
      yield text
      text = ''
    }
    await yielder.due()
  }
  if (text !== '') yield text
}

/** approximate number of characters in a part */
const PART = 131_072

function* pieces(value: unknown): Generator<string> {
  if (value instanceof LazyList) {
    yield '['
    for (let i = 0; i < value.length; i += ITEMS) {
      yield `${i > 0 ? ',' : ''}${value.textOf(i, Math.min(i + ITEMS, value.length))}`
    }
    yield ']'
  } else if (Array.isArray(value) && isLong(value)) {
    yield '['
    for (let i = 0; i < value.length; i += ITEMS) {
      const items: readonly unknown[] = value.slice(i, i + ITEMS)
      if (i > 0) yield ','
      yield* items.some(isLarge) ? joined(items) : [JSON.stringify(items).slice(1, -1)]
    }
    yield ']'
  } else if (isDeep(value)) {
    yield '{'
    let separator = ''
    for (const [key, inner] of Object.entries(value as object)) {
      if (inner === undefined) continue
      yield `${separator}${JSON.stringify(key)}:`
      yield* pieces(inner)
      separator = ','
    }
    yield '}'
  } else {
    yield JSON.stringify(value) ?? 'null'
  }
}

function* joined(items: readonly unknown[]): Generator<string> {
  for (const [i, item] of items.entries()) {
    if (i > 0) yield ','
    yield* pieces(item)
  }
}

function isLarge(value: unknown): boolean {
  if (value instanceof LazyList) return true
  return Array.isArray(value) ? isLong(value) : isDeep(value)
}

function isLong(list: readonly unknown[]): boolean {
  return list.length > ITEMS || list.some(isLarge)
}

function isDeep(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).some(isLarge)
}
