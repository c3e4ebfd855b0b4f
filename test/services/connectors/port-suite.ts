/** The conformance suite of connectors: every implementation of the port passes it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConnectorType, SinkDocument, SourceDocument } from '../../../src/services/connectors/connector-schema.ts'
import type {
  Connection,
  Connector,
  Position,
  SinkRecord,
  SourceConnection,
  SourceRecord,
} from '../../../src/services/connectors/port.ts'

export interface SentRecord {
  readonly key: string
  readonly value: string
}

/** A running broker, as the suite uses it. */
export interface TestBroker {
  readonly type: ConnectorType
  readonly connector: Connector
  readonly connection: Connection
  /** a connection that no broker accepts */
  readonly unreachable: Connection
  /** Creates a topic with this name. */
  create(topic: string): Promise<void>
  /** Publishes records in order; the broker has them when it resolves. */
  publish(topic: string, records: readonly SentRecord[]): Promise<void>
  /** Returns the first `count` values that the topic received since `create`. */
  received(topic: string, count: number): Promise<readonly string[]>
  /** whether a source can be read again from a position */
  readonly hasPositions: boolean
  close(): Promise<void>
}

const numbered = (count: number, from = 0): readonly SentRecord[] =>
  Array.from({ length: count }, (_, i) => ({ key: `r${i % 3}`, value: JSON.stringify({ n: from + i }) }))

export function portSuite(name: string, open: () => Promise<TestBroker>, timeout = 30_000): void {
  describe(`the ${name} connector`, { timeout }, () => {
    let broker: TestBroker
    let topics = 0
    beforeAll(async () => {
      broker = await open()
    }, 60_000)
    afterAll(() => broker.close())

    const fresh = async (): Promise<string> => {
      const topic = `port-${name}-${++topics}`
      await broker.create(topic)
      return topic
    }
    const opened = async (
      topic: string,
      { position = {}, signal = new AbortController().signal }: { position?: Position; signal?: AbortSignal } = {},
    ): Promise<SourceConnection> => {
      const document: SourceDocument = { type: broker.type, connection: {}, topics: [topic], start: 'earliest' }
      const { connection } = broker
      const about = { document, connection, clientId: `source-${topic}`, signal, report: () => undefined }
      return broker.connector.openSource({ ...about, position })
    }
    const opening = (topic: string, connection = broker.connection) => {
      const document: SinkDocument = { type: broker.type, connection: {}, topic, select: { items: 'messages' } }
      const { signal } = new AbortController()
      return { document, connection, clientId: `sink-${topic}`, signal, report: () => undefined }
    }

    // Holds PORT-1
    it('returns all records, in order of each key', async () => {
      const topic = await fresh()
      const source = await opened(topic)
      await broker.publish(topic, numbered(300))
      const records: SourceRecord[] = []
      while (records.length < 300) {
        const read = (await source.next()) ?? []
        records.push(...read)
        await source.acknowledge(read)
      }
      for (const key of ['r0', 'r1', 'r2']) {
        const numbers = records.map(numberOf).filter((n) => `r${n % 3}` === key)
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      }
      expect(records.map(numberOf).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i))
      expect(new Set(records.map(({ topic: of }) => of))).toEqual(new Set([topic]))
      expect(new Set(records.map(({ id }) => id)).size).toBe(300)
      await source.close()
    })

    // Holds PORT-1, PORT-3
    it('returns unacknowledged records again, and with a position only those after it', async () => {
      const topic = await fresh()
      const first = await opened(topic)
      await broker.publish(topic, numbered(20))
      const read = await taken(first, 20)
      const done = read.slice(0, 8)
      await first.acknowledge(done)
      await first.close()
      const second = await opened(topic, { position: positionOf(done) })
      const again = await taken(second, 12)
      expect(again.map(numberOf).toSorted((a, b) => a - b)).toEqual(
        read
          .slice(8)
          .map(numberOf)
          .toSorted((a, b) => a - b),
      )
      await second.close()
      if (!broker.hasPositions) return
      // the position decides, whether the broker knows more or less
      const third = await opened(topic, { position: positionOf(read) })
      await broker.publish(topic, numbered(3, 20))
      expect((await taken(third, 3)).map(numberOf).toSorted((a, b) => a - b)).toEqual([20, 21, 22])
      await third.close()
      const firsts = new Map(read.toReversed().map((record) => [record.place?.partition, record]))
      const fourth = await opened(topic, { position: positionOf([...firsts.values()]) })
      const count = 23 - firsts.size
      expect(await taken(fourth, count)).toHaveLength(count)
      await fourth.close()
    })

    // Holds PORT-2
    it('returns at most a thousand records at once', async () => {
      const topic = await fresh()
      const source = await opened(topic)
      await broker.publish(topic, numbered(2_500))
      const sizes: number[] = []
      for (let count = 0; count < 2_500;) {
        const records = (await source.next()) ?? []
        sizes.push(records.length)
        count += records.length
        await source.acknowledge(records)
      }
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
      await source.close()
    })

    // Holds PORT-5
    it('ends a pending read when the signal aborts', async () => {
      const topic = await fresh()
      const aborting = new AbortController()
      const source = await opened(topic, { signal: aborting.signal })
      const pending = source.next()
      aborting.abort()
      expect(await pending).toBeUndefined()
      await source.close()
      await source.close()
    })

    // Holds PORT-4
    it('sends records in order, acknowledged by the broker', async () => {
      const topic = await fresh()
      const sink = await broker.connector.openSink(opening(topic))
      const records = Array.from({ length: 50 }, (_, n): SinkRecord => {
        return { id: `e${n}`, topic, resource: `r${n % 2}`, time: 1_000 + n, value: { n } }
      })
      await sink.send(records.slice(0, 30))
      await sink.send(records.slice(30))
      const values = (await broker.received(topic, 50)).map((text) => (JSON.parse(text) as { n: number }).n)
      for (const rest of [0, 1]) {
        const ofKey = values.filter((n) => n % 2 === rest)
        expect(ofKey).toEqual(Array.from({ length: 25 }, (_, i) => i * 2 + rest))
      }
      await sink.close()
      await sink.close()
    })

    it('tests a connection', async () => {
      const topic = await fresh()
      expect(await broker.connector.test(opening(topic))).toMatchObject({ ok: true })
      const { ok, problem } = await broker.connector.test(opening(topic, broker.unreachable))
      expect({ ok, problem: typeof problem }).toEqual({ ok: false, problem: 'string' })
    })

    // Holds PORT-5
    it('rejects opening without a broker', async () => {
      const topic = await fresh()
      const broken = broker.connector.openSink(opening(topic, broker.unreachable))
      await expect(broken.then((sink) => sink.send([]))).rejects.toThrow(/\S/)
    })
  })
}

export function numberOf({ payload }: SourceRecord): number {
  return (JSON.parse(Buffer.from(payload).toString()) as { n: number }).n
}

export async function taken(source: SourceConnection, count: number): Promise<readonly SourceRecord[]> {
  const records: SourceRecord[] = []
  while (records.length < count) records.push(...((await source.next()) ?? []))
  return records
}

export function positionOf(records: readonly SourceRecord[]): Position {
  return Object.fromEntries(
    records.flatMap(({ place }) => (place === undefined ? [] : [[place.partition, place.next]])),
  )
}
