/**
 * Reads topics of an MQTT broker in a persistent session. The broker keeps what is not acknowledged, so a
 * source has no position to begin at. The position holds the packet ids of the last messages with digests instead: a message that is
 * delivered again, though it was committed here, is acknowledged and not returned.
 */
import { hash } from 'node:crypto'
import type { IPublishPacket } from 'mqtt'
import { writeToStream } from 'mqtt-packet'
import { type Json, topicFits } from '#kernel'
import { machineTimers } from '#platform'
import type { Position, SourceConnection, SourceOpening, SourceRecord } from '../port.ts'
import { type Connected, connectTo, ended, type HandleMessage, plainError, subscribed } from './mqtt-client.ts'

const MAX_RECORDS = 1_000
/** messages that the broker may have in flight; not all brokers keep to it */
const MAX_IN_FLIGHT = 256
/** The position has the digests of the last 2,048 packet ids, in blocks of consecutive ids. */
const BLOCKS = 32
const IDS_OF_BLOCK = 64
const DIGEST = 6
const NO_DIGEST = '-'.repeat(DIGEST)
/** seconds: seven days */
const EXPIRY = 604_800

/** Passed to the client so that it reads on without an acknowledgement. */
const LATER = new Error('the message is acknowledged after its commit')

export interface ReadingOptions {
  readonly isClean: boolean
  readonly filters: readonly string[]
  readonly will?: Parameters<typeof connectTo>[1]['will']
  /** Returns the record's payload or content; undefined to drop the message. */
  readonly decode: (topic: string, payload: Buffer) => Reading | undefined
}

export type Reading = Pick<SourceRecord, 'payload' | 'decoded' | 'failure'>

export async function openMqttSource(opening: SourceOpening): Promise<SourceConnection> {
  const { topics, converter } = opening.document
  const filters = topics.map((topic) => topic.replace(/^\$share\/[^/]+\//, ''))
  const isWanted = (topic: string): boolean => filters.some((filter) => topicFits(filter, topic))
  return (
    await reading(opening, {
      isClean: false,
      filters: topics,
      // a session may still have subscriptions of an earlier document
      decode: (topic, payload) =>
        isWanted(topic) ? { payload: converter === undefined ? asJson(payload) : payload } : undefined,
    })
  ).source
}

export async function reading(
  opening: SourceOpening,
  options: ReadingOptions,
): Promise<{ readonly source: MqttSource; readonly connected: Connected }> {
  const source = new MqttSource(opening, options)
  const { isClean: clean, will } = options
  const expiry = clean ? 0 : EXPIRY
  const connected = await connectTo(opening, {
    clean,
    expiry,
    receiveMaximum: MAX_IN_FLIGHT,
    will,
    handle: source.handle,
  })
  source.connected(connected)
  const subscription = subscribed(connected, options.filters)
  subscription.catch(source.fail)
  try {
    // a session that continues may deliver more than the source reads ahead before the broker answers the subscription
    await Promise.race([subscription, source.full])
  } catch (error) {
    await source.close()
    throw plainError(error)
  }
  return { source, connected }
}

/** Texts such as `on` become JSON, as numbers and booleans are. */
function asJson(payload: Buffer): Buffer {
  const text = payload.toString()
  try {
    JSON.parse(text)
    return payload
  } catch {
    const isBroken = text === '' || /^[[{"]/.test(text.trimStart()) || text.includes('\uFFFD')
    return isBroken ? payload : Buffer.from(JSON.stringify(text))
  }
}

export class MqttSource implements SourceConnection {
  readonly #signal: AbortSignal
  readonly #position: Position
  readonly #decode: ReadingOptions['decode']
  readonly #run = machineTimers.newId().slice(0, 8)
  readonly #waiting: SourceRecord[] = []
  /** messages that are read once earlier ones are taken, so that memory stays bounded */
  readonly #held: (() => void)[] = []
  /** blocks of packet ids with the messages returned since */
  readonly #noting = new Map<string, Json>()
  readonly #packetIds = new WeakMap<SourceRecord, number>()
  #count = 0
  #connected: Connected | undefined
  #failure: Error | undefined
  #wake: () => void = () => undefined
  #closing: Promise<void> | undefined
  #isFull: () => void = () => undefined
  /** resolves once the source waits for its reader */
  readonly full = new Promise<void>((resolve) => (this.#isFull = resolve))

  constructor({ signal, position }: Pick<SourceOpening, 'signal' | 'position'>, { decode }: ReadingOptions) {
    this.#signal = signal
    this.#position = position
    this.#decode = decode
    signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  connected(connected: Connected): void {
    this.#connected = connected
    connected.client
      .on('error', this.fail)
      .once('close', () => this.fail(new Error('the connection to the broker has ended')))
  }

  readonly fail = (error: unknown): void => {
    this.#failure ??= plainError(error)
    this.#wake()
  }

  readonly handle: HandleMessage = (packet, done) => {
    const { qos, messageId = 0 } = packet
    const proceed = (): void => done(qos === 0 ? undefined : LATER)
    const found = this.#recordOf(packet)
    if (found === undefined) return done()
    if (qos > 0) this.#packetIds.set(found, messageId)
    this.#waiting.push(found)
    this.#wake()
    if (this.#waiting.length < MAX_RECORDS) proceed()
    else {
      this.#held.push(proceed)
      this.#isFull()
    }
  }

  async next(): Promise<readonly SourceRecord[] | undefined> {
    for (;;) {
      if (this.#signal.aborted) return undefined
      if (this.#waiting.length > 0) {
        const records = this.#waiting.splice(0, MAX_RECORDS)
        for (const proceed of this.#held.splice(0)) proceed()
        return records
      }
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async acknowledge(records: readonly SourceRecord[]): Promise<void> {
    if (this.#connected === undefined) return
    const { client, version: protocolVersion } = this.#connected
    if (!client.connected) return
    for (const record of records) {
      const messageId = this.#packetIds.get(record)
      if (messageId !== undefined) writeToStream({ cmd: 'puback', messageId }, client.stream, { protocolVersion })
    }
  }

  /** The broker does not state how much waits. */
  async lag(): Promise<undefined> {
    return undefined
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#connected === undefined ? Promise.resolve() : ended(this.#connected))
  }

  #recordOf({ topic, payload, qos, dup, messageId = 0 }: IPublishPacket): SourceRecord | undefined {
    const bytes = Buffer.from(payload)
    const digest = hash('sha1', Buffer.concat([Buffer.from(`${topic}\n`), bytes]), 'base64url').slice(0, DIGEST)
    if (dup && this.#isCommitted(messageId, digest)) return undefined
    const content = this.#decode(topic, bytes)
    if (content === undefined) return undefined
    const id = `${topic}#${this.#run}.${++this.#count}`
    return { id, topic, ...content, ...(qos > 0 && { place: this.#noted(messageId, digest) }) }
  }

  #isCommitted(messageId: number, digest: string): boolean {
    const { partition, block, index } = placeOf(messageId)
    return digestsOf(this.#position[partition], block)[index] === digest
  }

  /** Returns the place with the digests of the block up to this message. */
  #noted(messageId: number, digest: string): NonNullable<SourceRecord['place']> {
    const { partition, block, index } = placeOf(messageId)
    const digests = digestsOf(this.#noting.get(partition) ?? this.#position[partition], block)
    const next = [
      block,
      Array.from({ length: IDS_OF_BLOCK }, (_, i) => (i === index ? digest : (digests[i] ?? NO_DIGEST))).join(''),
    ]
    this.#noting.set(partition, next)
    return { partition, next }
  }
}

function placeOf(messageId: number) {
  const block = Math.floor(messageId / IDS_OF_BLOCK)
  return { partition: String(block % BLOCKS), block, index: messageId % IDS_OF_BLOCK }
}

/** Returns the digests of a block of packet ids; none if another block is stored in its place. */
function digestsOf(stored: Json | undefined, block: number): readonly string[] {
  const [of, digests] = (stored ?? []) as readonly unknown[]
  return of === block && typeof digests === 'string' ? (digests.match(/.{6}/g) ?? []) : []
}
