/** Writes and reads checkpoints of tasks in segments; a rule that tasks share is stored once per segment. */
import { hashText, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { TaskStateRecord } from '../durable/deterministic-engine.ts'
import type { RunnableTask } from '../runner.ts'
import type { InputCheckpoint } from './contract.ts'
import type { CheckpointRow } from './manifest.ts'
import type { SegmentReader } from './segment-reader.ts'
import { keyOfTask, SegmentWriter } from './segment-writer.ts'

export interface CheckpointSource {
  ids(): readonly string[]
  checkpoint(id: string): InputCheckpoint | undefined
}

interface StoredCheckpoint {
  readonly task: Omit<RunnableTask, 'source'>
  readonly source: string
  readonly record: TaskStateRecord
}

/** One in this many rounds contains every task. */
const FULL_EVERY = 24

export class CheckpointWriter {
  /** by task: hash of the checkpoint that was last written */
  #written = new Map<string, string>()

  async take(
    tasks: CheckpointSource,
    before: readonly CheckpointRow[],
  ): Promise<{ readonly writer: SegmentWriter | undefined; readonly isFull: boolean }> {
    const isFull = this.#written.size === 0 || before.length - before.findLastIndex((one) => one.isFull) >= FULL_EVERY
    const written = new Map<string, string>()
    const writer = new SegmentWriter()
    const yielder = new Yielder(machineTimers)
    const sources = new Sources()
    for (const id of tasks.ids()) {
      await yielder.due()
      const checkpoint = tasks.checkpoint(id)
      if (checkpoint === undefined) continue
      const { position, at, record } = checkpoint
      writer.covers(position, at)
      const { source, ...task } = checkpoint.task
      const text = JSON.stringify({ task, record })
      const digest = `${hashText(text)}/${text.length}`
      written.set(id, digest)
      if (!isFull && this.#written.get(id) === digest) continue
      const key = sources.keyOf(source, (name, json) => writer.addText(name, position, at, json))
      writer.addText(
        keyOfTask(id),
        position,
        at,
        JSON.stringify({ task, source: key, record } satisfies StoredCheckpoint),
      )
    }
    this.#written = written
    return { writer: written.size === 0 ? undefined : writer, isFull }
  }
}

/** A task missing from later rounds had not changed: its checkpoint takes position and time of the last of them. */
export async function readCheckpoint(
  segments: SegmentReader,
  rows: readonly CheckpointRow[],
  id: string,
  before: { readonly at: number } | { readonly position: number },
): Promise<InputCheckpoint | undefined> {
  const isBefore = (one: { readonly position: number; readonly at: number }): boolean =>
    'at' in before ? one.at <= before.at : one.position <= before.position
  let latest = { position: 0, at: Number.NEGATIVE_INFINITY }
  for (const row of rows.toReversed()) {
    if (!isBefore({ position: row.first, at: row.firstAt })) continue
    if (latest.position === 0) latest = { position: row.first, at: row.firstAt }
    const found = (await segments.texts(row, keyOfTask(id))).findLast(isBefore)
    if (found !== undefined) {
      const { task, source, record } = JSON.parse(found.text) as StoredCheckpoint
      const [stored] = await segments.texts(row, source)
      if (stored === undefined) continue
      const whole = { ...task, source: JSON.parse(stored.text) as RunnableTask['source'] }
      const position = Math.max(found.position, latest.position)
      return { position, at: Math.max(found.at, latest.at), task: whole, record }
    }
    if (row.isFull) return undefined
  }
  return undefined
}

class Sources {
  readonly #keys = new Map<string, string>()
  readonly #known = new Map<object, string>()

  keyOf(source: object, add: (key: string, text: string) => void): string {
    const known = this.#known.get(source)
    if (known !== undefined) return known
    const text = JSON.stringify(source)
    const key = this.#keys.get(text) ?? `s${this.#keys.size}`
    if (!this.#keys.has(text)) add(key, text)
    this.#keys.set(text, key)
    this.#known.set(source, key)
    return key
  }
}
