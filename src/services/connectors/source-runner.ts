/** Runs one source: reads and decodes records, and commits their messages together with the position after them. */
import { AppError } from '#kernel'
import type { Collection, Write } from '#storage'
import type { BatchIntake, InternalBroker, ReadMessage } from '#services/broker/contract'
import type { InternalConverter } from '#services/converter/contract'
import type { ResourcesService } from '#services/resources/contract'
import { type Attempt, ConnectionLoop } from './connection-loop.ts'
import { NO_PROGRESS, PROGRESS, type ProgressRecord } from './connector-records.ts'
import type { ConnectorStatus, SourceDocument } from './connector-schema.ts'
import { readRecord, REFUSALS } from './decode-record.ts'
import type { SourceConnection, SourceRecord } from './port.ts'
import type { Runner, RunnerOptions } from './runner.ts'

export interface SourceNeighbours {
  readonly broker: () => InternalBroker | undefined
  readonly converter: () => InternalConverter | undefined
  readonly resources: () => ResourcesService | undefined
}

/** A unit is full beyond one of these; a record is never split. */
const MAX_MESSAGES = 512
const MAX_BYTES = 262_144
const MAX_IN_FLIGHT = 4
const LAG_MS = 5_000

class Unit {
  readonly records: SourceRecord[] = []
  readonly messages: ReadMessage[] = []
  readonly refused: { readonly record: SourceRecord; readonly error: AppError }[] = []
  #bytes = 0

  add(record: SourceRecord): void {
    this.records.push(record)
    this.#bytes += record.payload.length
  }

  get isFull(): boolean {
    return this.messages.length + this.refused.length >= MAX_MESSAGES || this.#bytes >= MAX_BYTES
  }
}

export class SourceRunner implements Runner {
  readonly #options: RunnerOptions<SourceDocument> & SourceNeighbours
  readonly #loop: ConnectionLoop
  readonly #records: Collection<ProgressRecord>
  #progress: ProgressRecord = NO_PROGRESS
  #lag: number | undefined

  constructor(options: RunnerOptions<SourceDocument> & SourceNeighbours) {
    this.#options = options
    this.#records = options.store.collection(PROGRESS)
    this.#loop = new ConnectionLoop({ ...options, attempt: (attempt) => this.#attempt(attempt) })
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  get status(): ConnectorStatus {
    const { position: _position, ...counts } = this.#progress
    return { ...this.#loop.status, ...(this.#lag !== undefined && { lag: this.#lag }), ...counts }
  }

  async #attempt(attempt: Attempt): Promise<void> {
    const { id, opening, broker } = this.#options
    const stored = await this.#records.get(id)
    const version = stored?.version ?? (await this.#records.put(id, NO_PROGRESS, 'absent'))
    this.#progress = stored?.value ?? NO_PROGRESS
    const intake = broker()?.intake
    if (intake === undefined) throw new AppError('CLOSED', 'this host does not serve the broker')
    // a failed unit also ends the pending read
    const broken = new AbortController()
    const { connector, ...opened } = await opening(AbortSignal.any([attempt.signal, broken.signal]))
    const source = await connector.openSource({ ...opened, position: this.#progress.position })
    const cancel = this.#watchLag(source)
    try {
      attempt.connected()
      await this.#pump(source, intake, version, { ...attempt, broken })
    } finally {
      cancel()
      await source.close()
    }
  }

  /**
   * Posts until the source ends or a unit fails. Each unit expects the version that the one before it wrote, so that
   * none is committed after a failed one.
   */
  async #pump(
    source: SourceConnection,
    intake: BatchIntake,
    first: number,
    { progressed, broken }: Attempt & { readonly broken: AbortController },
  ): Promise<void> {
    const inFlight = new Set<Promise<void>>()
    let failure: { readonly error: unknown } | undefined
    let version = first
    let planned = this.#progress
    let acknowledged = Promise.resolve()
    const handOver = async (unit: Unit): Promise<void> => {
      // writes without messages do not pass the queue of the broker, so they wait for the units before them
      const most = unit.messages.length === 0 ? 1 : MAX_IN_FLIGHT
      while (inFlight.size >= most) await Promise.race(inFlight)
      if (failure !== undefined) return
      const progress = after(planned, unit)
      const writes = [this.#records.putting(this.#options.id, progress, version), ...this.#rejections(planned, unit)]
      version++
      planned = progress
      const committed: Promise<unknown> =
        unit.messages.length === 0 ? this.#options.store.commit(writes) : intake.commit(unit.messages, writes)
      acknowledged = Promise.all([committed, acknowledged]).then(() => {
        this.#progress = progress
        this.#options.counted('accepted', unit.records.length - unit.refused.length)
        this.#options.counted('rejected', unit.refused.length)
        progressed()
        return source.acknowledge(unit.records)
      })
      const ended = acknowledged
        .catch((error: unknown) => {
          failure ??= { error }
          broken.abort()
        })
        .finally(() => inFlight.delete(ended))
      inFlight.add(ended)
    }
    try {
      for (;;) {
        const records = await source.next()
        if (records === undefined || failure !== undefined) break
        let unit = new Unit()
        for (const record of records) {
          await this.#take(record, intake, unit)
          if (!unit.isFull) continue
          await handOver(unit)
          unit = new Unit()
        }
        if (unit.records.length > 0) await handOver(unit)
      }
    } finally {
      await Promise.all(inFlight)
    }
    if (failure !== undefined) throw failure.error
  }

  async #take(record: SourceRecord, intake: BatchIntake, unit: Unit): Promise<void> {
    unit.add(record)
    try {
      const read = await readRecord(record, intake, this.#options)
      for (const message of read) unit.messages.push(message)
    } catch (error) {
      if (!(error instanceof AppError) || !REFUSALS.has(error.code)) throw error
      unit.refused.push({ record, error })
    }
  }

  #rejections({ rejected: before }: ProgressRecord, { refused }: Unit): readonly Write[] {
    const { id, rejected, now } = this.#options
    return refused.flatMap(({ record, error }, i) => rejected.writes(id, before + i, record, error, now()))
  }

  #watchLag(source: SourceConnection): () => void {
    let isOver = false
    const look = async (): Promise<void> => {
      if (isOver) return
      const lag = await source.lag().catch(() => this.#lag)
      if (isOver) return
      this.#lag = lag
      this.#options.later(LAG_MS, () => void look())
    }
    void look()
    return () => {
      isOver = true
    }
  }
}

function after({ position, read, accepted, rejected }: ProgressRecord, unit: Unit): ProgressRecord {
  const { records, refused } = unit
  const places = records.flatMap(({ place }) => (place === undefined ? [] : [[place.partition, place.next] as const]))
  return {
    position: { ...position, ...Object.fromEntries(places) },
    read: read + records.length,
    accepted: accepted + records.length - refused.length,
    rejected: rejected + refused.length,
  }
}
