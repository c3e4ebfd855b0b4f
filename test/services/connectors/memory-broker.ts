/** A broker in memory, and the connector to it. */
import type {
  Connector,
  Position,
  SinkRecord,
  SourceConnection,
  SourceRecord,
} from '../../../src/services/connectors/port.ts'
import type { SentRecord, TestBroker } from './port-suite.ts'

interface Kept extends SentRecord {
  readonly id?: string
  readonly time?: number
}

export class MemoryBroker implements TestBroker {
  readonly type = 'kafka'
  readonly connection = { brokers: ['127.0.0.1:9092'] }
  readonly unreachable = { brokers: ['nowhere:1'] }
  readonly hasPositions = true
  /** the error of every call while set */
  down: string | undefined
  /** the largest number of records returned and not acknowledged */
  mostPending = 0
  readonly acknowledged: string[] = []
  readonly #topics = new Map<string, Kept[]>()
  readonly #sources = new Set<() => void>()

  readonly connector: Connector = {
    openSource: async ({ document, connection, position, signal }) => {
      this.#check(connection.brokers)
      return this.#source(document.topics, position, document.start === 'earliest', signal)
    },
    openSink: async ({ connection }) => {
      this.#check(connection.brokers)
      return {
        send: async (records: readonly SinkRecord[]) => {
          this.#check(connection.brokers)
          for (const { id, topic, resource, time, value } of records) {
            this.#add(topic, { key: resource, value: JSON.stringify(value), id, time })
          }
        },
        close: async () => undefined,
      }
    },
    test: async ({ connection }) => {
      try {
        this.#check(connection.brokers)
        return { ok: true, found: [...this.#topics.keys()] }
      } catch (error) {
        return { ok: false, problem: (error as Error).message }
      }
    },
  }

  async create(topic: string): Promise<void> {
    this.#topics.set(topic, [])
  }

  async publish(topic: string, records: readonly Kept[]): Promise<void> {
    for (const record of records) this.#add(topic, record)
  }

  async received(topic: string, count: number): Promise<readonly string[]> {
    return this.records(topic)
      .slice(0, count)
      .map(({ value }) => value)
  }

  records(topic: string): readonly Kept[] {
    return this.#topics.get(topic) ?? []
  }

  /** Ends all connections with this error, which later ones get until `down` is cleared. */
  fail(text: string): void {
    this.down = text
    for (const wake of this.#sources) wake()
  }

  async close(): Promise<void> {
    this.fail('closed')
  }

  #check(brokers: readonly string[] = []): void {
    if (this.down !== undefined) throw new Error(this.down)
    if (!brokers.includes('127.0.0.1:9092')) throw new Error(`${brokers[0] ?? 'no broker'} is not reachable`)
  }

  #add(topic: string, record: Kept): void {
    const kept = this.#topics.get(topic) ?? []
    kept.push(record)
    this.#topics.set(topic, kept)
    for (const wake of this.#sources) wake()
  }

  #source(topics: readonly string[], position: Position, isEarliest: boolean, signal: AbortSignal): SourceConnection {
    const next = new Map(
      topics.map((topic) => [topic, Number(position[topic] ?? (isEarliest ? 0 : this.records(topic).length))]),
    )
    let pending = 0
    let wake: () => void = () => undefined
    const woken = (): void => wake()
    this.#sources.add(woken)
    signal.addEventListener('abort', woken)
    return {
      next: async () => {
        for (;;) {
          if (signal.aborted) return undefined
          this.#check(['127.0.0.1:9092'])
          for (const topic of topics) {
            const from = next.get(topic) ?? 0
            const found = this.records(topic).slice(from, from + 1_000)
            if (found.length === 0) continue
            next.set(topic, from + found.length)
            pending += found.length
            this.mostPending = Math.max(this.mostPending, pending)
            return found.map(({ key, value, time }, i): SourceRecord => {
              const payload = Buffer.from(value)
              const place = { partition: topic, next: from + i + 1 }
              return { id: `${topic}/${from + i}`, topic, key, payload, time, place }
            })
          }
          await new Promise<void>((resolve) => (wake = resolve))
        }
      },
      acknowledge: async (records) => {
        pending -= records.length
        this.acknowledged.push(...records.map(({ id }) => id))
      },
      lag: async () => topics.reduce((sum, topic) => sum + this.records(topic).length - (next.get(topic) ?? 0), 0),
      close: async () => void this.#sources.delete(woken),
    }
  }
}
