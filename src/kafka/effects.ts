/** Makes the outside calls of tasks: reads them from `effects`, and writes their results into `in`. */
import type { Plug } from '#core'
import { readAnswer } from '#core/spi'
import { type Logger, messageOf } from '#kernel'
import { plain } from '#services/rules/deterministic'
import { type ControlInput, type EffectRecord, HEADERS } from './contract.ts'
import type { NewRecord, TransactionalLog } from './log.ts'

export interface EffectDependencies {
  readonly log: TransactionalLog
  readonly plugs: readonly Plug[]
  /** Resolves after so many ms. */
  readonly pause: (ms: number) => Promise<void>
  readonly logger?: Logger | undefined
}

const WAIT_MS = 200
/** A call that takes longer has failed. */
const CALL_MS = 30_000
const MAX_AT_ONCE = 100

type Context = Parameters<Plug['execute']>[0]

/** A call may be made again after a crash, with the same id; its answer is applied once. */
export class EffectRunner {
  readonly #parts: EffectDependencies
  readonly #positions = new Map<number, number>()
  #generation = -1
  made = 0

  constructor(parts: EffectDependencies) {
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) if ((await this.step(signal)) === 0) await this.#parts.pause(WAIT_MS)
  }

  /** Makes the next calls; returns how many. */
  async step(signal: AbortSignal): Promise<number> {
    const { log, logger } = this.#parts
    const { generation, partitions } = log.assignment
    if (generation !== this.#generation) {
      this.#positions.clear()
      for (const partition of partitions) {
        const offset = (await log.committed(partition)) ?? (await log.earliest(partition))
        this.#positions.set(partition, offset)
      }
      this.#generation = generation
    }
    if (this.#positions.size === 0) return 0
    const batches = await log.fetch(this.#positions, WAIT_MS)
    const offsets = new Map<number, number>()
    const work: Promise<NewRecord | undefined>[] = []
    for (const { partition, records, next } of batches) {
      const taken = records.slice(0, MAX_AT_ONCE - work.length)
      for (const { value } of taken) work.push(this.#answer(value ?? '', signal))
      const last = taken.at(-1)
      const end = taken.length === records.length ? next : last === undefined ? undefined : last.offset + 1
      if (end !== undefined && end !== this.#positions.get(partition)) offsets.set(partition, end)
    }
    if (offsets.size === 0) return 0
    const answers = (await Promise.all(work)).filter((one) => one !== undefined)
    try {
      await log.transact({ generation, offsets, records: answers })
      for (const [partition, offset] of offsets) this.#positions.set(partition, offset)
    } catch (error) {
      logger?.warn(`results of outside calls were not stored, and the calls are made again: ${messageOf(error)}`)
      this.#generation = -1
    }
    return work.length
  }

  async #answer(text: string, signal: AbortSignal): Promise<NewRecord | undefined> {
    let effect: EffectRecord
    try {
      effect = JSON.parse(text) as EffectRecord
    } catch {
      return undefined
    }
    const { t, e, x, c, partition } = effect
    const input: ControlInput = { k: 'answer', t, e, x, c, o: plain(await this.#call(effect, signal)) }
    this.made++
    return { topic: 'in', partition, key: t, value: JSON.stringify(input), headers: { [HEADERS.kind]: 'input' } }
  }

  async #call(effect: EffectRecord, signal: AbortSignal) {
    const { plugs, pause } = this.#parts
    const plug = plugs.find(({ name, version, kind }) => `${name}:${version}` === effect.plug && kind === effect.kind)
    if (plug === undefined) return { ok: false as const, error: `the plug ${effect.plug} is missing in this worker` }
    const abort = new AbortController()
    signal.addEventListener('abort', () => abort.abort(), { once: true })
    const late = pause(CALL_MS).then(() => {
      throw new Error(`the call took longer than ${CALL_MS / 1000} s`)
    })
    late.catch(() => undefined)
    try {
      return readAnswer(plug, await Promise.race([plug.execute(this.#context(effect, plug, abort.signal)), late]))
    } catch (error) {
      return { ok: false as const, error: messageOf(error) }
    } finally {
      abort.abort()
    }
  }

  #context(effect: EffectRecord, plug: Plug, signal: AbortSignal): Context {
    const { properties, streamData, t, node, nodeResource, resource, time } = effect
    const { logger } = this.#parts
    const note = (message: string): void => logger?.warn(message, { task: t, node })
    const value = (key: string): unknown => (Object.hasOwn(streamData, key) ? streamData[key] : undefined)
    const context = {
      properties,
      prepared: plug.prepare?.(properties),
      number: (key: string) => Number(value(key)),
      text: (key: string) => String(value(key)),
      streamValue: value,
      streamTime: () => time,
      isNew: (key: string) => value(key) !== undefined,
      isNewOf: () => true,
      late: [],
      streamData,
      rawData: {},
      lookup: () => undefined,
      actuatorData: {},
      internalState: undefined,
      task: { TASK_ID: t, RESOURCE: resource, NODE_NAME: node },
      node: { NAME: node, RESOURCE: nodeResource, TRIGGER: undefined },
      globalSettings: {},
      now: time,
      id: effect.effect,
      hops: effect.hops,
      ...(effect.root !== undefined && { root: effect.root }),
      random: () => 0,
      log: { debug: () => undefined, info: () => undefined, warn: note, error: note },
      signal,
    }
    return context
  }
}
