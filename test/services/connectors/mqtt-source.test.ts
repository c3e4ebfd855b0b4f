/** Which messages an MQTT source returns, acknowledges and holds, without a broker. */
import type { IPublishPacket } from 'mqtt'
import { describe, expect, it } from 'vitest'
import { MqttSource } from '../../../src/services/connectors/mqtt/mqtt-source.ts'
import type { Position } from '../../../src/services/connectors/port.ts'

const options = { isClean: false, filters: [], decode: (_topic: string, payload: Buffer) => ({ payload }) }

function sourceAt(position: Position = {}) {
  const source = new MqttSource({ signal: new AbortController().signal, position }, options)
  /** for each message: whether the client acknowledges it at once, or later */
  const outcomes: ('acknowledged' | 'later')[] = []
  const take = (messageId: number, text: string, dup = false): void => {
    const packet: IPublishPacket = { cmd: 'publish', topic: 'a', payload: text, qos: 1, dup, retain: false, messageId }
    source.handle(packet, (unacknowledged) => outcomes.push(unacknowledged === undefined ? 'acknowledged' : 'later'))
  }
  return { source, outcomes, take }
}

/** The position after these messages were committed, as the store returns it. */
async function committed(ids: readonly number[], position: Position = {}): Promise<Position> {
  const { source, take } = sourceAt(position)
  const places: Record<string, unknown> = { ...position }
  for (const id of ids) take(id, `m${id}`)
  for (let left = ids.length; left > 0;) {
    const records = (await source.next()) ?? []
    left -= records.length
    for (const { place } of records) if (place !== undefined) places[place.partition] = place.next
  }
  return JSON.parse(JSON.stringify(places)) as Position
}

const upTo = (count: number, from = 1): readonly number[] => Array.from({ length: count }, (_, i) => from + i)

// Holds PORT-1
describe('a message that comes again', () => {
  it.each<[string, readonly number[], number, string, boolean, boolean]>([
    ['was committed', upTo(10), 7, 'm7', true, false],
    ['was committed, in the middle of many', upTo(2_000), 700, 'm700', true, false],
    ['was not committed', upTo(10), 11, 'm11', true, true],
    ['is another one under the packet id of a committed one', upTo(10), 7, 'other', true, true],
    ['is not marked as a duplicate', upTo(10), 7, 'm7', false, true],
    ['was committed before the last 2,048', upTo(3_000), 7, 'm7', true, true],
  ])('and %s', async (_, before, id, text, dup, isReturned) => {
    const { source, outcomes, take } = sourceAt(await committed(before))
    take(id, text, dup)
    take(5_000, 'last')
    const texts = ((await source.next()) ?? []).map(({ payload }) => Buffer.from(payload).toString())
    expect(texts).toEqual(isReturned ? [text, 'last'] : ['last'])
    expect(outcomes).toEqual([isReturned ? 'later' : 'acknowledged', 'later'])
  })

  it('is recognized across several crashes', async () => {
    const position = await committed(upTo(40, 31), await committed(upTo(30)))
    const { source, outcomes, take } = sourceAt(position)
    for (const id of [5, 31, 70]) take(id, `m${id}`, true)
    take(71, 'last')
    expect(await source.next()).toHaveLength(1)
    expect(outcomes).toEqual(['acknowledged', 'acknowledged', 'acknowledged', 'later'])
  })
})

// Holds PORT-2
it('reads no further while a thousand records wait', async () => {
  const { source, outcomes, take } = sourceAt()
  for (const id of upTo(1_000)) take(id, 'x')
  expect(outcomes).toHaveLength(999)
  expect(await source.next()).toHaveLength(1_000)
  expect(outcomes).toHaveLength(1_000)
})
