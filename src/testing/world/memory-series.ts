/**
 * Provides stored messages, their series and queries over them in memory. It runs the services of a host over a store
 * that ends with the run; their code is loaded only for the first world.
 */
import type { DataPort, Message, QueryPort } from '#core'
import type { PlainObject } from '#core/spi'
import { AppError, type JsonObject } from '#kernel'
import type { SampleValue, Series } from '#storage'

const TENANT = 'world'
const STREAM = 'events'

interface Opened {
  readonly series: Series
  readonly readSeries: DataPort['series']
  readonly execute: QueryPort['execute']
}

export interface MemorySeriesOptions {
  readonly now: () => number
  readonly queries: Readonly<Record<string, PlainObject>>
}

export class MemorySeries {
  readonly #options: MemorySeriesOptions
  /** messages that are not in series yet */
  readonly #arrived: Message[] = []
  #opened: Promise<Opened> | undefined

  constructor(options: MemorySeriesOptions) {
    this.#options = options
  }

  /** Adds a message at once. Its timestamp is epoch ms. */
  add(message: Message): void {
    this.#arrived.push(message)
  }

  async messages(resource: string, limit: number): ReturnType<DataPort['messages']> {
    const { series } = await this.#upToDate()
    const found = await series.messages({ resource, stream: STREAM, limit })
    return found.map(({ body }) => body)
  }

  async latest(resource: string): ReturnType<DataPort['latest']> {
    const { series } = await this.#upToDate()
    return (await series.latest(resource)).map(({ metric, time, value }) => ({ metric, time, value }))
  }

  async query(query: PlainObject): Promise<PlainObject> {
    return (await this.#upToDate()).readSeries(query)
  }

  /** Same as the query service of a host, but without selecting resources by type or tag. */
  async execute(...[source, options]: Parameters<QueryPort['execute']>): ReturnType<QueryPort['execute']> {
    const { execute } = await this.#upToDate()
    const { queries } = this.#options
    const stored = 'stored' in source && Object.hasOwn(queries, source.stored) ? queries[source.stored] : undefined
    return execute(stored === undefined ? source : { query: stored }, options)
  }

  async #upToDate(): Promise<Opened> {
    const opened = await (this.#opened ??= open(this.#options.now))
    const arrived = this.#arrived.splice(0)
    if (arrived.length > 0) {
      await opened.series.append({ samples: arrived.flatMap(samplesOf), messages: arrived.map(storedForm) })
    }
    return opened
  }
}

async function load() {
  const [{ openMemory }, { createSeries }, { Queries }, { queryPort }] = await Promise.all([
    import('#storage/memory'),
    import('#services/broker/series'),
    import('#services/queries/service'),
    import('#host/wiring/queries'),
  ])
  return { openMemory, createSeries, Queries, queryPort }
}

/** Loads the code, so that the first query is as fast as other services. */
export async function loadSeries(): Promise<void> {
  await load()
}

async function open(now: () => number): Promise<Opened> {
  const { openMemory, createSeries, Queries, queryPort } = await load()
  const storage = openMemory({ clock: now })
  const store = storage.tenant(TENANT)
  const { series } = createSeries({ store, now })
  const queries = new Queries({ store, now })
  return {
    series: store.series,
    execute: queryPort(TENANT, () => queries).execute,
    async readSeries(query) {
      const answer = await series.query(query)
      if ('series' in answer) return { ...answer }
      throw new AppError('VALIDATION', 'plugs request one series at a time; use an object, not an array')
    },
  }
}

/** Returns the numbers, texts and booleans of a message as samples; lists and objects stay in the message. */
function samplesOf({ resource, timestamp, ...values }: Message) {
  const time = Number(timestamp)
  return Object.entries(values).flatMap(([metric, value]) =>
    isSample(value) ? [{ resource, metric, time, value }] : [],
  )
}

function isSample(value: unknown): value is SampleValue {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function storedForm({ resource, timestamp, ...values }: Message) {
  const body = JSON.parse(JSON.stringify({ ...values, timestamp })) as JsonObject
  return { resource, stream: STREAM, time: Number(timestamp), body }
}
