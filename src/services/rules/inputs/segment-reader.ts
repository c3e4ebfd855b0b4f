/** Reads segments of kept inputs; a damaged block is reported and left out (INPUTS-3). */
import { inflateSync } from 'node:zlib'
import type { Message } from '#core'
import { AppError, LruCache, messageOf, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { Blobs } from '#storage'
import type { Input } from '../durable/input.ts'
import type { InputRange, KeptSource } from './contract.ts'
import type { SegmentRow } from './manifest.ts'
import type { DataInput } from './select-input.ts'
import {
  type About,
  type BlockRow,
  type Footer,
  type Group,
  IS_UNSTAMPED,
  keyOfResource,
  keyOfTask,
  type NewInput,
  OF_ALL,
  OTHER,
  TEXT,
  TIME_IS_AGE,
} from './segment-writer.ts'

type Shape = Footer['shapes'][number]

/** number of footers in memory, so that reading one resource after another does not read them again */
const MAX_FOOTERS = 256

export interface RowFilter {
  /** epoch ms; rows that have expired by then are left out */
  readonly now: number
  /** Returns whether a message belongs to a resource that was deleted after the message's position. */
  isDeleted(resource: string, position: number): boolean
}

export class SegmentReader {
  readonly #source: Pick<KeptSource, 'bytes' | 'report'>
  readonly #footers = new LruCache<string, Footer>(MAX_FOOTERS)

  constructor(source: Pick<KeptSource, 'bytes' | 'report'>) {
    this.#source = source
  }

  /** Returns inputs that may be in the range, in log order; the caller selects from them. `all`: every input. */
  async inputs(segment: SegmentRow, range: InputRange | 'all', filter: RowFilter): Promise<readonly NewInput[]> {
    const keys = keysOf(range)
    const {
      after = 0,
      upTo = Number.POSITIVE_INFINITY,
      from = -Infinity,
      until = Infinity,
    } = range === 'all' ? {} : range
    const isWanted = (key: string): boolean =>
      keys.isAll || keys.named.has(key) || (keys.isAnyResource && key.startsWith('r'))
    const rows = new Rows(segment, filter)
    const touches = ([firstKey, lastKey, , first, last, oldest, newest]: BlockRow): boolean =>
      last > after && first <= upTo && newest >= from && oldest <= until && keys.touch(firstKey, lastKey)
    await this.#eachBlock(segment, touches, (groups, { shapes }) => {
      for (const [key, position, at, list] of groups) {
        if (isWanted(key)) rows.add(key.slice(1), position, at, list, shapes)
      }
    })
    return rows.inOrder(after, upTo)
  }

  async texts(segment: SegmentRow, key: string): Promise<readonly { position: number; at: number; text: string }[]> {
    const found: { position: number; at: number; text: string }[] = []
    const touches = ([firstKey, lastKey]: BlockRow): boolean => firstKey <= key && key <= lastKey
    await this.#eachBlock(segment, touches, (groups) => {
      for (const [name, ...group] of groups) {
        if (name !== key) continue
        let [position, at] = group
        for (const [dp, da, form, text] of group[2]) {
          position += Number(dp)
          at += Number(da)
          if (form === TEXT) found.push({ position, at, text: String(text) })
        }
      }
    })
    return found
  }

  async mayHave(segment: SegmentRow, keys: readonly string[]): Promise<boolean> {
    const { blocks = [] } = (await this.#footer(segment)) ?? {}
    return blocks.some(([first, last]) => keys.some((key) => first <= key && key <= last))
  }

  async #eachBlock(
    segment: SegmentRow,
    touches: (block: BlockRow) => boolean,
    read: (groups: readonly Group[], footer: Footer) => void,
  ): Promise<void> {
    const footer = await this.#footer(segment)
    if (footer === undefined) return
    const yielder = new Yielder(machineTimers)
    for (const run of runsOf(footer.blocks, touches)) {
      const bytes = await this.#bytes(segment, run.from, run.from + run.bytes)
      if (bytes === undefined) continue
      let offset = 0
      for (const [i, length] of run.lengths.entries()) {
        const place = run.first + i
        try {
          const text = inflateSync(bytes.subarray(offset, offset + length))
          read(JSON.parse(text.toString()) as readonly Group[], footer)
        } catch (error) {
          this.#report(`Block ${place} of the kept inputs ${segment.id} is damaged: ${messageOf(error)}`)
        }
        offset += length
        await yielder.due()
      }
    }
  }

  #report(text: string): void {
    void this.#source.report(text)
  }

  async #footer(segment: SegmentRow): Promise<Footer | undefined> {
    const known = this.#footers.get(segment.id)
    if (known !== undefined) return known
    const bytes = await this.#bytes(segment, segment.bytes - segment.footerBytes, segment.bytes)
    if (bytes === undefined) return undefined
    try {
      const footer = JSON.parse(inflateSync(bytes).toString()) as Footer
      this.#footers.set(segment.id, footer)
      return footer
    } catch (error) {
      this.#report(`The footer of the kept inputs ${segment.id} is damaged: ${messageOf(error)}`)
      return undefined
    }
  }

  async #bytes({ id }: SegmentRow, from: number, until: number): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.#source.bytes(id, from, until)
      if (bytes?.length === until - from) return bytes
      this.#report(`The kept inputs ${id} are ${bytes === undefined ? 'missing' : 'cut off'}`)
    } catch (error) {
      if (error instanceof AppError && error.code === 'CLOSED') throw error
      this.#report(`The kept inputs ${id} cannot be read: ${messageOf(error)}`)
    }
    return undefined
  }
}

/** Returns a part of a blob, `until` excluded; undefined if the blob is missing. */
export async function bytesOf(
  blobs: Blobs,
  id: string,
  from: number,
  until: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const found = await blobs.get(id, { from, until: until - 1 })
  if (found === undefined) return undefined
  const bytes = new Uint8Array(until - from)
  let length = 0
  for await (const piece of found.content) {
    bytes.set(piece.subarray(0, bytes.length - length), length)
    length = Math.min(bytes.length, length + piece.length)
  }
  return length === bytes.length ? bytes : bytes.slice(0, length)
}

/** Maximum bytes of adjacent blocks to read at once. */
const RUN_BYTES = 4_194_304

interface Run {
  readonly first: number
  readonly from: number
  bytes: number
  readonly lengths: number[]
}

function runsOf(blocks: readonly BlockRow[], touches: (block: BlockRow) => boolean): readonly Run[] {
  const runs: Run[] = []
  let offset = 0
  let open: Run | undefined
  for (const [i, block] of blocks.entries()) {
    const length = block[2]
    if (touches(block)) {
      if (open === undefined || open.bytes + length > RUN_BYTES) {
        open = { first: i, from: offset, bytes: 0, lengths: [] }
        runs.push(open)
      }
      open.bytes += length
      open.lengths.push(length)
    } else open = undefined
    offset += length
  }
  return runs
}

interface Keys {
  readonly isAll: boolean
  readonly isAnyResource: boolean
  readonly named: ReadonlySet<string>
  /** Returns whether a wanted key may lie between `first` and `last`. */
  touch(first: string, last: string): boolean
}

function keysOf(range: InputRange | 'all'): Keys {
  const { resources, tasks } = range === 'all' ? {} : range
  const names = [
    ...(resources ?? []).map(keyOfResource),
    ...(tasks === undefined ? [] : [OF_ALL, ...tasks.map(keyOfTask)]),
  ]
  const isAll = range === 'all'
  const isAnyResource = resources === undefined
  return {
    isAll,
    isAnyResource,
    named: new Set(names),
    touch: (first, last) =>
      isAll || (isAnyResource && first < 's' && last >= 'r') || names.some((key) => first <= key && key <= last),
  }
}

/** Parts of an array of messages that are stored under several resources. */
interface Parts {
  readonly at: number
  readonly about: About
  readonly messages: (Message | undefined)[]
}

class Rows {
  readonly #segment: SegmentRow
  readonly #filter: RowFilter
  readonly #inputs: (Input | undefined)[] = []
  readonly #expires = new Map<number, number>()
  readonly #parts = new Map<number, Parts>()

  constructor(segment: SegmentRow, filter: RowFilter) {
    this.#segment = segment
    this.#filter = filter
  }

  add(
    name: string,
    basePosition: number,
    baseAt: number,
    rows: readonly (readonly unknown[])[],
    shapes: readonly Shape[],
  ): void {
    let position = basePosition
    let at = baseAt
    for (const row of rows) {
      position += Number(row[0])
      at += Number(row[1])
      const form = Number(row[2])
      if (form === OTHER) this.#set(position, { ...(row[3] as object), at } as Input)
      else if (this.#filter.isDeleted(name, position)) continue
      else if (form >= 0) this.#set(position, shapedInput(name, at, row, shapes[form]))
      else this.#addPlain(position, at, row[3] as Message | readonly Message[], row[4] ?? {})
    }
  }

  inOrder(after: number, upTo: number): readonly NewInput[] {
    for (const [position, parts] of this.#parts) this.#set(position, joinedInput(parts))
    const inputs: NewInput[] = []
    const { first } = this.#segment
    for (const [i, input] of this.#inputs.entries()) {
      const position = first + i
      if (input === undefined || position <= after || position > upTo) continue
      const expires = this.#expires.get(position)
      inputs.push(expires === undefined ? { position, input } : { position, input, expires })
    }
    return inputs
  }

  #set(position: number, input: Input | undefined): void {
    this.#inputs[position - this.#segment.first] = input
  }

  #addPlain(position: number, at: number, m: Message | readonly Message[], about: About): void {
    if (about.x !== undefined) {
      if (about.x <= this.#filter.now) return
      this.#expires.set(position, about.x)
    }
    if (about.n === undefined) return this.#set(position, { k: 'data', at, m, ...sentOf(about) })
    const parts = this.#parts.get(position) ?? { at, about, messages: [] }
    this.#parts.set(position, parts)
    for (const [i, message] of (m as readonly Message[]).entries()) parts.messages[about.w?.[i] ?? i] = message
  }
}

function shapedInput(
  resource: string,
  at: number,
  row: readonly unknown[],
  shape: Shape | undefined,
): Input | undefined {
  if (shape === undefined) return undefined
  const [flags] = shape
  const message: Record<string, unknown> & { resource: string } = { resource }
  for (let i = 1; i < shape.length; i++) {
    const key = shape[i] as string
    const value = row[i + 2]
    message[key] = (flags & TIME_IS_AGE) !== 0 && key === 'timestamp' ? at - Number(value) : value
  }
  return (flags & IS_UNSTAMPED) === 0 ? { k: 'data', at, m: message } : { k: 'data', at, m: message, u: [0] }
}

function joinedInput({ at, about, messages }: Parts): DataInput {
  const m: Message[] = []
  const u: number[] = []
  for (const [place, message] of messages.entries()) {
    if (message === undefined) continue
    if (about.u?.includes(place) === true) u.push(m.length)
    m.push(message)
  }
  const { u: _u, ...sent } = sentOf(about)
  return { k: 'data', at, m, ...sent, ...(u.length > 0 && { u }) }
}

function sentOf({ n: _n, w: _w, x: _x, ...sent }: About): Omit<DataInput, 'k' | 'at' | 'm'> {
  return sent
}
