/** Converts a task's state to its stored form, without waiting messages that are still in the log. */
import type { Message } from '#core'
import type { SavedInput } from '#core/spi'
import { AppError } from '#kernel'
import type { CollectionSpec, Store, Write } from '#storage'
import { LOG_NAME } from '#log'
import { inputOf, messagesOf } from './input.ts'
import { STATES, type StateRecord } from './records.ts'

interface StatePart {
  readonly text: string
}

export const STATE_PARTS: CollectionSpec<StatePart> = { name: 'rule_state_parts', version: 1, fields: {} }

/** Characters per part. Each takes at most three bytes; quotes and backslashes take two characters. */
const PART_LENGTH = 250_000
/** Messages further back than this many entries are stored with the state, so that the log can be pruned. */
const MAX_BACK = 50_000
const PORTION = 1000

type Written = { readonly writes: readonly Write[]; readonly parts: number }

export function wholeState(store: Store, id: string, record: StateRecord, hadParts: number): Written {
  return { writes: [store.collection(STATES).putting(id, record), ...withoutParts(store, id, 0, hadParts)], parts: 0 }
}

export function stateInParts(
  store: Store,
  id: string,
  record: StateRecord,
  hadParts: number,
  maxLength: number,
): Written {
  const { state, underWay, ...rest } = record
  const text = JSON.stringify({ state, underWay })
  const parts = Math.ceil(text.length / PART_LENGTH)
  if (parts === 1) return wholeState(store, id, record, hadParts)
  if (text.length > maxLength) {
    const limit = `${maxLength / 1e6} million characters`
    throw new AppError('TOO_LARGE', `the state of task ${id} has ${text.length} characters, more than ${limit}`)
  }
  const collection = store.collection(STATE_PARTS)
  const writes = Array.from({ length: parts }, (_, i) =>
    collection.putting(partId(id, i), { text: text.slice(i * PART_LENGTH, (i + 1) * PART_LENGTH) }),
  )
  const head = store.collection(STATES).putting(id, { ...rest, parts })
  return { writes: [head, ...writes, ...withoutParts(store, id, parts, hadParts)], parts }
}

export function withoutParts(store: Store, id: string, from: number, to: number): readonly Write[] {
  const collection = store.collection(STATE_PARTS)
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => collection.deleting(partId(id, from + i)))
}

export async function joinedState(store: Store, id: string, record: StateRecord): Promise<StateRecord> {
  const { parts = 0, ...rest } = record
  const ids = Array.from({ length: parts }, (_, i) => partId(id, i))
  const stored = await store.collection(STATE_PARTS).getMany(ids)
  const text = stored.map(({ value }) => value.text).join('')
  return { ...rest, ...(JSON.parse(text) as Pick<StateRecord, 'state' | 'underWay'>) }
}

function partId(id: string, part: number): string {
  return `${id}/${part}`
}

/** Also returns the oldest log position needed to restore the removed messages. */
export function withoutKept(record: StateRecord): {
  readonly record: StateRecord
  readonly oldest: number | undefined
} {
  const { state, position } = record
  if (state?.waiting === undefined) return { record, oldest: undefined }
  let oldest: number | undefined
  const waiting = state.waiting.map((one): SavedInput => {
    if (one.kind !== 'data' || one.kept === undefined || one.kept.position <= position - MAX_BACK) return one
    oldest = Math.min(oldest ?? one.kept.position, one.kept.position)
    const { messages: _messages, ...rest } = one
    return rest
  })
  return { record: { ...record, state: { ...state, waiting } }, oldest }
}

export async function messagesAt(
  store: Store,
  positions: readonly number[],
): Promise<ReadonlyMap<number, readonly Message[]>> {
  const found = new Map<number, readonly Message[]>()
  const log = store.log(LOG_NAME)
  let read = 0
  for (const position of [...new Set(positions)].sort((a, b) => a - b)) {
    if (position <= read) continue
    const entries = await log.read(position - 1, PORTION)
    for (const entry of entries) {
      const input = inputOf(entry.body)
      if (input?.k === 'data') found.set(entry.position, messagesOf(input.m))
    }
    read = entries.at(-1)?.position ?? position
  }
  return found
}

export function keptPositions({ state }: StateRecord): readonly number[] {
  return (state?.waiting ?? []).flatMap((one) =>
    one.kind === 'data' && one.messages === undefined && one.kept !== undefined ? [one.kept.position] : [],
  )
}

/** The inverse of `withoutKept`. If the log no longer has the messages of an input, the input stays empty. */
export function withMessages(record: StateRecord, at: ReadonlyMap<number, readonly Message[]>): StateRecord {
  const { state } = record
  if (state?.waiting === undefined) return record
  const waiting = state.waiting.map((one): SavedInput => {
    if (one.kind !== 'data' || one.messages !== undefined || one.kept === undefined) return one
    const all = at.get(one.kept.position) ?? []
    return { ...one, messages: one.kept.places.flatMap((index) => all[index] ?? []) }
  })
  return { ...record, state: { ...state, waiting } }
}
