/**
 * Writes segments of kept inputs: sorted rows in deflated blocks, then a footer with keys and positions.
 *
 * A key is a resource, a task, or the common key of inputs that concern all tasks. An array of messages becomes one row
 * at each of its resources. Messages with the same fields share a shape, so that a row of three numbers takes little
 * more space than the numbers.
 */
import { deflateSync } from 'node:zlib'
import type { Message } from '#core'
import { FORBIDDEN_KEYS, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { type Input, messagesOf } from '../durable/input.ts'
import type { SegmentFigures } from './manifest.ts'
import { readingTime } from './select-input.ts'

/** Flags of a shape, in addition to its keys. */
export const TIME_IS_AGE = 1
export const IS_UNSTAMPED = 2

/** Kinds of rows without a shape: unchanged messages, another input, a text. */
export const PLAIN = -1
export const OTHER = -2
export const TEXT = -3

export const OF_ALL = '*'
export function keyOfResource(resource: string): string {
  return `r${resource}`
}
export function keyOfTask(task: string): string {
  return `t${task}`
}

/** An entry to be written to a segment. `expires`: epoch ms. */
export interface NewInput {
  readonly position: number
  readonly input: Input
  readonly expires?: number | undefined
}

export interface About {
  readonly c?: string
  readonly h?: number
  readonly r?: string
  readonly u?: readonly number[]
  readonly g?: readonly string[] | 'all'
  readonly x?: number
  /** number of messages in the array that the row is part of; absent: a single message */
  readonly n?: number
  /** indexes of the row's messages in that array; absent: all */
  readonly w?: readonly number[]
}

/** first key, last key, bytes, first and last position, first and last reading time, rows */
export type BlockRow = readonly [string, string, number, number, number, number, number, number]

export interface Footer {
  readonly shapes: readonly (readonly [flags: number, ...keys: string[]])[]
  readonly blocks: readonly BlockRow[]
}

/** key, base position, base arrival, rows */
export type Group = readonly [string, number, number, readonly (readonly unknown[])[]]

export interface NewSegment extends SegmentFigures {
  readonly content: Uint8Array
}

interface Row {
  readonly position: number
  readonly at: number
  /** epoch ms of the oldest and newest reading */
  readonly from: number
  readonly until: number
  readonly text: string
}

/** approximate number of characters per block: few enough to deflate in the event loop */
const BLOCK_LENGTH = 16_384
const MAX_SHAPES = 500
const FORBIDDEN: ReadonlySet<string> = new Set(FORBIDDEN_KEYS)

export class SegmentWriter {
  readonly #rows = new Map<string, Row[]>()
  readonly #shapes: [number, ...string[]][] = []
  readonly #shapeIds = new Map<string, number>()
  #first = 0
  #last = 0
  #firstAt = Number.POSITIVE_INFINITY
  #lastAt = Number.NEGATIVE_INFINITY
  messages = 0
  characters = 0

  /** Extends the range of positions, also for entries that are not kept. */
  covers(position: number, at?: number): void {
    if (this.#first === 0) this.#first = position
    this.#last = Math.max(this.#last, position)
    if (at === undefined) return
    this.#firstAt = Math.min(this.#firstAt, at)
    this.#lastAt = Math.max(this.#lastAt, at)
  }

  add({ position, input, expires }: NewInput): void {
    this.covers(position, input.at)
    if (input.k !== 'data') {
      const { at, ...rest } = input
      return this.#push('t' in input ? keyOfTask(input.t) : OF_ALL, position, at, `${OTHER},${JSON.stringify(rest)}`)
    }
    if (Array.isArray(input.m)) return this.#addArray(position, input, expires)
    const [message] = messagesOf(input.m)
    if (message === undefined) return
    this.messages += 1
    const text = this.#shaped(message, input, expires) ?? plainText(message, aboutOf(input, expires))
    this.#push(keyOfResource(message.resource), position, input.at, text, readingTime(message, input.at))
  }

  addText(key: string, position: number, at: number, text: string): void {
    this.covers(position, at)
    this.#push(key, position, at, `${TEXT},${JSON.stringify(text)}`)
  }

  async segment(): Promise<NewSegment> {
    const yielder = new Yielder(machineTimers)
    const pieces: Buffer[] = []
    const blocks: BlockRow[] = []
    let from = Number.POSITIVE_INFINITY
    let until = Number.NEGATIVE_INFINITY
    const close = (block: OpenBlock) => {
      const bytes = deflateSync(`[${block.groups.join()}]`)
      pieces.push(bytes)
      blocks.push(block.row(bytes.length))
      from = Math.min(from, block.from)
      until = Math.max(until, block.until)
    }
    let block = new OpenBlock()
    for (const key of [...this.#rows.keys()].sort()) {
      const rows = this.#rows.get(key) ?? []
      for (let i = 0; i < rows.length;) {
        i = block.take(key, rows, i)
        if (block.length >= BLOCK_LENGTH) {
          close(block)
          block = new OpenBlock()
        }
        await yielder.due()
      }
    }
    if (block.groups.length > 0) close(block)
    const footer = deflateSync(JSON.stringify({ shapes: this.#shapes, blocks } satisfies Footer))
    const isEmpty = this.#lastAt < this.#firstAt
    return {
      content: Buffer.concat([...pieces, footer]),
      footerBytes: footer.length,
      first: this.#first,
      last: this.#last,
      firstAt: isEmpty ? 0 : this.#firstAt,
      lastAt: isEmpty ? 0 : this.#lastAt,
      from: blocks.length === 0 ? 0 : from,
      until: blocks.length === 0 ? 0 : until,
      messages: this.messages,
    }
  }

  #addArray(position: number, input: Extract<Input, { k: 'data' }>, expires: number | undefined): void {
    const messages = messagesOf(input.m)
    const parts = new Map<string, number[]>()
    for (const [place, { resource }] of messages.entries()) {
      const places = parts.get(resource)
      if (places === undefined) parts.set(resource, [place])
      else places.push(place)
    }
    const about = { ...aboutOf(input, expires), n: messages.length }
    for (const [resource, w] of parts) {
      const part = w.flatMap((place) => messages[place] ?? [])
      const times = part.map((message) => readingTime(message, input.at))
      const text = plainText(part, w.length === messages.length ? about : { ...about, w })
      this.messages += part.length
      const [from, until] = [Math.min(...times), Math.max(...times)]
      this.#push(keyOfResource(resource), position, input.at, text, from, until)
    }
  }

  /** Encodes a single message as a shape and its values; undefined if the message must be written unchanged. */
  #shaped(message: Message, { at, c, h, g, u }: Extract<Input, { k: 'data' }>, expires?: number): string | undefined {
    if (c !== undefined || h !== undefined || g !== undefined || expires !== undefined) return undefined
    const [first, ...keys] = Object.keys(message)
    if (first !== 'resource' || keys.some((key) => FORBIDDEN.has(key))) return undefined
    const { timestamp } = message
    const isAge = Number.isSafeInteger(timestamp)
    const id = this.#shapeOf((isAge ? TIME_IS_AGE : 0) + (u === undefined ? 0 : IS_UNSTAMPED), keys)
    if (id === undefined) return undefined
    const values = keys.map((key) => (isAge && key === 'timestamp' ? at - Number(timestamp) : message[key]))
    return values.length === 0 ? String(id) : `${id},${JSON.stringify(values).slice(1, -1)}`
  }

  #shapeOf(flags: number, keys: readonly string[]): number | undefined {
    const name = JSON.stringify([flags, ...keys])
    const known = this.#shapeIds.get(name)
    if (known !== undefined || this.#shapes.length >= MAX_SHAPES) return known
    this.#shapeIds.set(name, this.#shapes.length)
    return this.#shapes.push([flags, ...keys]) - 1
  }

  #push(key: string, position: number, at: number, text: string, from = at, until = from): void {
    this.characters += text.length
    const row = { position, at, from, until, text }
    const rows = this.#rows.get(key)
    if (rows === undefined) this.#rows.set(key, [row])
    else rows.push(row)
  }
}

class OpenBlock {
  readonly groups: string[] = []
  length = 0
  from = Number.POSITIVE_INFINITY
  until = Number.NEGATIVE_INFINITY
  #firstKey: string | undefined
  #lastKey = ''
  #first = Number.POSITIVE_INFINITY
  #last = 0
  #count = 0

  /** Adds as many rows of a key as fit, from index `start` on. Returns the index of the next row. */
  take(key: string, rows: readonly Row[], start: number): number {
    const base = rows[start]
    if (base === undefined) return rows.length
    this.#firstKey ??= key
    this.#lastKey = key
    let { position, at } = base
    const texts: string[] = []
    let i = start
    for (; i < rows.length && this.length < BLOCK_LENGTH; i++) {
      const row = rows[i] ?? base
      const text = `[${row.position - position},${row.at - at},${row.text}]`
      texts.push(text)
      this.length += text.length
      ;({ position, at } = row)
      this.from = Math.min(this.from, row.from)
      this.until = Math.max(this.until, row.until)
      this.#first = Math.min(this.#first, position)
      this.#last = Math.max(this.#last, position)
      this.#count += 1
    }
    this.groups.push(`[${JSON.stringify(key)},${base.position},${base.at},[${texts.join()}]]`)
    return i
  }

  row(bytes: number): BlockRow {
    const { from, until } = this
    return [this.#firstKey ?? '', this.#lastKey, bytes, this.#first, this.#last, from, until, this.#count]
  }
}

function aboutOf({ c, h, r, u, g }: Extract<Input, { k: 'data' }>, expires: number | undefined): About {
  return {
    ...(c !== undefined && { c }),
    ...(h !== undefined && { h }),
    ...(r !== undefined && { r }),
    ...(u !== undefined && { u }),
    ...(g !== undefined && { g }),
    ...(expires !== undefined && { x: expires }),
  }
}

function plainText(m: Message | readonly Message[], about: About): string {
  const text = JSON.stringify(about)
  return text === '{}' ? `${PLAIN},${JSON.stringify(m)}` : `${PLAIN},${JSON.stringify(m)},${text}`
}
