import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { generate, type IPublishPacket, parser as createParser, type Packet } from 'mqtt-packet'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { openMqtt, type MqttListener } from '../../../../src/services/broker/mqtt/listener.ts'
import type { MqttOptions } from '../../../../src/services/broker/mqtt/connection-context.ts'
import { deferred } from '../../../support/deferred.ts'
import { FakeBroker, type TakenPost } from './support/fake-broker.ts'

const open: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function openDoor(broker: FakeBroker, options: Partial<MqttOptions> = {}): Promise<MqttListener> {
  let ids = 0
  const door = await openMqtt({
    api: (caller) => broker.api(caller),
    authenticate: async (key, secret) => (secret === 'good' ? { tenant: `tenant-of-${key}`, user: key } : undefined),
    host: '127.0.0.1',
    port: 0,
    newId: () => `client-${++ids}`,
    ...options,
  })
  open.push(() => door.close())
  return door
}

async function client(door: MqttListener, options: IClientOptions = {}): Promise<MqttClient> {
  const made = await connectAsync(`mqtt://127.0.0.1:${door.port}`, {
    username: 'k',
    password: 'good',
    reconnectPeriod: 0,
    ...options,
  })
  open.push(() => made.endAsync(true))
  return made
}

/** Opens a raw connection that records each packet it receives. */
async function raw(door: MqttListener, protocolVersion = 4) {
  const socket = connectTcp(door.port, '127.0.0.1')
  open.push(async () => socket.destroy())
  const packets: Packet[] = []
  const parser = createParser({ protocolVersion })
  parser.on('packet', (packet) => void packets.push(packet))
  socket.on('data', (bytes) => void parser.parse(bytes))
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  const send = (packet: Packet): void => void socket.write(generate(packet, { protocolVersion }))
  return { socket, packets, closed, send }
}

const hello = (more: object = {}): Packet => ({
  cmd: 'connect',
  clientId: 'c',
  protocolVersion: 4,
  clean: true,
  username: 'k',
  password: Buffer.from('good'),
  ...more,
})

/** Opens a raw connection that the listener has accepted. */
async function connected(version: 4 | 5 = 4, options: Partial<MqttOptions> = {}, more: object = {}) {
  const broker = new FakeBroker()
  const door = await openDoor(broker, options)
  const made = await raw(door, version)
  made.send(hello({ protocolVersion: version, ...more }))
  await expect.poll(() => made.packets).toHaveLength(1)
  return { broker, door, ...made }
}

const published = (messageId: number, more: Partial<IPublishPacket> = {}): IPublishPacket => ({
  cmd: 'publish',
  topic: 'resources/r/events',
  payload: '{}',
  qos: 1,
  dup: false,
  retain: false,
  messageId,
  ...more,
})

const messages = (made: MqttClient): [string, unknown][] => {
  const seen: [string, unknown][] = []
  made.on('message', (topic, payload) => void seen.push([topic, JSON.parse(payload.toString())]))
  return seen
}

const post = (
  body: unknown,
  resource: string | undefined = 'r',
  channel: 'events' | 'commands' = 'events',
): TakenPost => ({
  tenant: 'tenant-of-k',
  channel,
  resource,
  body,
})

describe.each([4, 5] as const)('a client of version %i', (protocolVersion) => {
  it.each([0, 1, 2] as const)('posts with QoS %i', async (qos) => {
    const broker = new FakeBroker()
    const made = await client(await openDoor(broker), { protocolVersion })
    await made.publishAsync('resources/r/events', '{"t":1}', { qos })
    await made.publishAsync('resources/a/b/commands', '{"name":"on"}', { qos })
    await made.publishAsync('messages', '[{"resource":"x","t":2}]', { qos })
    await expect.poll(() => broker.posts).toHaveLength(3)
    expect(broker.posts).toEqual([
      post({ t: 1 }),
      post({ name: 'on' }, 'a/b', 'commands'),
      { ...post([{ resource: 'x', t: 2 }]), resource: undefined },
    ])
  })

  it('receives what it subscribed to, and nothing of another tenant', async () => {
    const broker = new FakeBroker()
    const made = await client(await openDoor(broker), { protocolVersion })
    const seen = messages(made)
    const granted = await made.subscribeAsync(['resources/r/commands', 'resources/+/events'], { qos: 2 })
    expect(granted.map(({ qos }) => qos)).toEqual([1, 1])
    await expect.poll(() => broker.feed.readers).toBe(2)
    broker.tell('other', 'r', 'commands', { timestamp: 0, name: 'no' })
    broker.tell('tenant-of-k', 'r', 'commands', { timestamp: 1, name: 'on' })
    broker.tell('tenant-of-k', 's', 'events', { timestamp: 2, t: 5 })
    broker.tell('tenant-of-k', 's/t', 'events', { timestamp: 3, t: 6 })
    await expect.poll(() => seen).toHaveLength(2)
    expect(seen).toContainEqual(['resources/r/commands', { timestamp: 1, name: 'on' }])
    expect(seen).toContainEqual(['resources/s/events', { timestamp: 2, t: 5, resource: 's' }])
    await made.unsubscribeAsync('resources/+/events')
    expect(broker.feed.readers).toBe(1)
  })

  it('with wrong credentials is rejected', async () => {
    const door = await openDoor(new FakeBroker())
    await expect(client(door, { protocolVersion, password: 'bad' })).rejects.toThrow(/Connection refused/)
    expect(door.connections).toBe(0)
  })

  it('publishes its will when its connection is lost, but not after a DISCONNECT', async () => {
    const broker = new FakeBroker()
    const door = await openDoor(broker)
    const will = {
      topic: 'resources/r/events',
      payload: Buffer.from('{"online":false}'),
      qos: 1,
      retain: false,
    } as const
    const polite = await client(door, { protocolVersion, will, clientId: 'polite' })
    await polite.endAsync()
    const lost = await client(door, { protocolVersion, will, clientId: 'lost' })
    lost.stream.destroy()
    await expect.poll(() => broker.posts).toEqual([post({ online: false })])
  })

  it('is disconnected when another client connects with its id', async () => {
    const door = await openDoor(new FakeBroker())
    const first = await client(door, { protocolVersion, clientId: 'one' })
    const closed = new Promise<void>((resolve) => void first.once('close', () => resolve()))
    const second = await client(door, { protocolVersion, clientId: 'one' })
    await closed
    expect(second.connected).toBe(true)
    await expect.poll(() => door.connections).toBe(1)
  })
})

// Holds MQTT-1, MQTT-2
describe('an acknowledgement', () => {
  it('arrives when the message is durable, in the order of messages', async () => {
    const { broker, send, packets } = await connected()
    const releases = new Map<number, () => void>()
    broker.hold = ({ body }) => new Promise((resolve) => releases.set((body as { n: number }).n, resolve))
    for (const n of [1, 2]) send(published(n, { payload: JSON.stringify({ n }) }))
    await expect.poll(() => releases.size).toBe(2)
    releases.get(2)?.()
    await expect.poll(() => broker.posts).toHaveLength(1)
    await expect.poll(() => packets).toHaveLength(1)
    expect(packets.map(({ cmd }) => cmd)).toEqual(['connack'])
    releases.get(1)?.()
    await expect.poll(() => packets).toHaveLength(3)
    expect(packets.slice(1).map(({ messageId }) => messageId)).toEqual([1, 2])
  })

  it('of QoS 2 is given again for the same message, which is posted once', async () => {
    const { broker, send, packets } = await connected()
    send(published(7, { qos: 2 }))
    await expect.poll(() => packets).toHaveLength(2)
    send(published(7, { qos: 2, dup: true }))
    send({ cmd: 'pubrel', messageId: 7 })
    await expect.poll(() => packets).toHaveLength(4)
    expect(packets.map(({ cmd }) => cmd)).toEqual(['connack', 'pubrec', 'pubrec', 'pubcomp'])
    expect(broker.posts).toHaveLength(1)
  })

  it('has the reason in version 5 when the message can never be taken', async () => {
    const { broker, send, packets } = await connected(5)
    send(published(1, { payload: '{torn' }))
    send(published(2, { topic: 'nowhere' }))
    await expect.poll(() => packets).toHaveLength(3)
    expect(packets.slice(1)).toMatchObject([{ reasonCode: 0x99 }, { reasonCode: 0x90 }])
    expect(broker.posts).toEqual([])
  })

  it('is not given when the fault is ours: the connection ends, so that the message comes again', async () => {
    const { broker, send, packets, closed } = await connected()
    broker.hold = () => Promise.reject(new AppError('CLOSED', 'the store is shut'))
    send(published(1))
    await closed
    expect(packets.map(({ cmd }) => cmd)).toEqual(['connack'])
  })
})

it('a rejected message is reported on the topic of errors', async () => {
  const made = await client(await openDoor(new FakeBroker()))
  const seen = messages(made)
  await made.subscribeAsync('errors')
  await made.publishAsync('resources/r/events', '7', { qos: 1 })
  await expect.poll(() => seen).toHaveLength(1)
  expect(seen[0]).toEqual([
    'errors',
    { topic: 'resources/r/events', error: 'a message is an object', details: ['/ <- expected an object'] },
  ])
})

it('messages of QoS 1 wait while the client acknowledges none', async () => {
  const { broker, send, packets } = await connected()
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'resources/r/events', qos: 1 }] })
  await expect.poll(() => broker.feed.readers).toBe(1)
  for (let n = 0; n < 150; n++) broker.tell('tenant-of-k', 'r', 'events', { timestamp: n })
  await expect.poll(() => packets).toHaveLength(102)
  const [, , first] = packets
  send({ cmd: 'puback', messageId: first?.messageId ?? 0 })
  await expect.poll(() => packets).toHaveLength(103)
})

// Holds MQTT-3
it('of what waits for a slow reader the oldest is lost, and the newest comes', async () => {
  const { broker, send, packets } = await connected(4, { limits: { waiting: 3 } })
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'resources/r/events', qos: 1 }] })
  await expect.poll(() => broker.feed.readers).toBe(1)
  const told = () => packets.filter((packet) => packet.cmd === 'publish')
  // 100 messages may be unacknowledged; message 101 was already taken from the waiting ones
  for (let n = 1; n <= 101; n++) {
    broker.tell('tenant-of-k', 'r', 'events', { timestamp: n })
    if (n <= 100) await expect.poll(() => told().length).toBe(n)
  }
  await new Promise(setImmediate)
  for (let n = 102; n <= 200; n++) broker.tell('tenant-of-k', 'r', 'events', { timestamp: n })
  expect(broker.feed.dropped).toBe(96)
  for (const { messageId = 0 } of told()) send({ cmd: 'puback', messageId })
  await expect.poll(() => told().length).toBe(104)
  const numbers = told().map(({ payload }) => (JSON.parse(String(payload)) as { timestamp: number }).timestamp)
  expect(numbers.slice(100)).toEqual([101, 198, 199, 200])
})

describe('a connection ends', () => {
  it.each<[string, Packet]>([
    ['that begins with something else', { cmd: 'pingreq' }],
    ['without credentials', { cmd: 'connect', clientId: 'c', protocolVersion: 4, clean: true }],
  ])('%s', async (_what, packet) => {
    const { send, closed } = await raw(await openDoor(new FakeBroker()))
    send(packet)
    expect(await closed).toHaveLength(1)
  })

  it('when a packet is larger than what is taken', async () => {
    const { broker, send, closed } = await connected(4, { limits: { packetBytes: 1000 } })
    send(published(0, { qos: 0, payload: JSON.stringify({ text: 'x'.repeat(100_000) }) }))
    await closed
    expect(broker.posts).toEqual([])
  })

  it('when it receives something that is not a packet', async () => {
    const { socket, closed } = await raw(await openDoor(new FakeBroker()))
    socket.write('GET / HTTP/1.1\r\n\r\n')
    expect(await closed).toHaveLength(1)
  })

  it('after one and a half times the silence that was agreed', async () => {
    const timers: { ms: number; work: () => void; isOff: boolean }[] = []
    const after = (ms: number, work: () => void) => {
      const timer = { ms, work, isOff: false }
      timers.push(timer)
      return () => void (timer.isOff = true)
    }
    const { send, packets, closed } = await connected(4, { after }, { keepalive: 10 })
    send({ cmd: 'pingreq' })
    await expect.poll(() => packets).toHaveLength(2)
    const last = timers.filter(({ isOff }) => !isOff)
    expect(last.map(({ ms }) => ms)).toEqual([15_000])
    last[0]?.work()
    expect(await closed).toHaveLength(1)
  })
})

const text = (value: string | number[]): number[] => {
  const bytes = [...Buffer.from(value)]
  return [bytes.length >> 8, bytes.length & 0xff, ...bytes]
}
/** Builds a packet shorter than 128 bytes. */
const bytesOf = (first: number, ...parts: number[][]): Buffer =>
  Buffer.from([first, parts.flat().length, ...parts.flat()])
const GOOD_TOPIC = text('resources/r/events')
const BODY = [...Buffer.from('{}')]
const ID = [0, 1]
const USER = [38, ...text('a'), ...text('b')]

// Holds MQTT-4
describe.each([4, 5] as const)('what the standard does not take closes a connection of version %i', (version) => {
  /** Encodes the properties of a packet, which version 4 lacks */
  const props = (...all: number[][]): number[] => (version === 5 ? [all.flat().length, ...all.flat()] : [])
  const rows: [string, Buffer, number][] = [
    ['a topic that is not UTF-8', bytesOf(0x32, text([0x61, 0xc3, 0x28]), ID, props(), BODY), 0x81],
    ['a topic with half a pair of surrogates', bytesOf(0x32, text([0xed, 0xa0, 0x80]), ID, props(), BODY), 0x81],
    ['a topic with a NUL', bytesOf(0x32, text('resources/\0/events'), ID, props(), BODY), 0x81],
    ['a topic with +', bytesOf(0x32, text('resources/+/events'), ID, props(), BODY), 0x81],
    ['a topic with #', bytesOf(0x30, text('resources/#'), props(), BODY), 0x81],
    ['an empty topic', bytesOf(0x30, text(''), props(), BODY), 0x82],
    ['packet id 0 of a message', bytesOf(0x32, GOOD_TOPIC, [0, 0], props(), BODY), 0x82],
    ['packet id 0 of a subscription', bytesOf(0x82, [0, 0], props(), GOOD_TOPIC, [0]), 0x82],
    ['packet id 0 of the end of one', bytesOf(0xa2, [0, 0], props(), GOOD_TOPIC), 0x82],
    ['packet id 0 of an acknowledgement', bytesOf(0x40, [0, 0]), 0x82],
    ['a repeated message of QoS 0', bytesOf(0x38, GOOD_TOPIC, props(), BODY), 0x81],
    ['QoS 3', bytesOf(0x36, GOOD_TOPIC, ID, props(), BODY), 0x81],
    ['a subscription to nothing', bytesOf(0x82, ID, props()), 0x82],
    ['a filter that is not UTF-8', bytesOf(0x82, ID, props(), text([0xff]), [0]), 0x81],
    ['an empty filter', bytesOf(0x82, ID, props(), text(''), [0]), 0x81],
    ['a text that is longer than its packet', bytesOf(0x30, [0, 200], BODY), 0x81],
    ['a ping that has something', bytesOf(0xc0, [1]), 0x81],
    ['a packet of servers', bytesOf(0x20, [0, 0]), 0x81],
    ['a second CONNECT', generate(hello({ protocolVersion: version })), 0x82],
  ]
  const rowsOf5: typeof rows = [
    ['a doubled property', bytesOf(0x32, GOOD_TOPIC, ID, props([1, 0], [1, 1]), BODY), 0x82],
    ['a topic alias', bytesOf(0x32, GOOD_TOPIC, ID, props([35, 0, 1]), BODY), 0x94],
    ['a topic alias alone', bytesOf(0x32, text(''), ID, props([35, 0, 1]), BODY), 0x94],
    ['a property of another packet', bytesOf(0x32, GOOD_TOPIC, ID, props([33, 0, 1]), BODY), 0x82],
    ['a property that nobody knows', bytesOf(0x32, GOOD_TOPIC, ID, props([99, 0]), BODY), 0x81],
    ['a property that is not UTF-8', bytesOf(0x32, GOOD_TOPIC, ID, props([3, ...text([0xff])]), BODY), 0x81],
    ['a user property with a NUL', bytesOf(0x32, GOOD_TOPIC, ID, props([38, ...text('a'), ...text('\0')]), BODY), 0x81],
    ['a flag of 2', bytesOf(0x32, GOOD_TOPIC, ID, props([1, 2]), BODY), 0x82],
    ['properties longer than the packet', bytesOf(0x32, GOOD_TOPIC, ID, [100], BODY), 0x81],
    ['a property that ends after the others', bytesOf(0x32, GOOD_TOPIC, ID, [2, 38, 0], BODY), 0x81],
    ['subscription 0', bytesOf(0x82, ID, props([11, 0]), GOOD_TOPIC, [0]), 0x82],
  ]
  it.each([...rows, ...(version === 5 ? rowsOf5 : [])])('%s', async (_what, packet, reason) => {
    const { broker, socket, packets, closed } = await connected(version)
    socket.write(packet)
    await closed
    expect(broker.posts).toEqual([])
    expect(packets.slice(1)).toMatchObject(version === 5 ? [{ cmd: 'disconnect', reasonCode: reason }] : [])
  })

  it('but user properties may come twice, and all that is well-formed is taken', async () => {
    const will = { topic: 'messages', payload: Buffer.from('{}'), qos: 1 }
    const { broker, socket, packets } = await connected(version, {}, { keepalive: 5, will })
    const all = Buffer.concat([
      bytesOf(
        0x32,
        text('resources/ä€😀/events'),
        ID,
        props(USER, [1, 1], USER, [2, 0, 0, 0, 9], [8, ...text('r')]),
        BODY,
      ),
      bytesOf(0x82, [0, 2], props([11, 0x80, 1], USER), text('errors'), [0], text('resources/+/events'), [1]),
      bytesOf(0xa2, [0, 3], props(USER), text('errors'), text('x')),
      bytesOf(0x62, [0, 4]),
      bytesOf(0xc0),
    ])
    // write in pieces of varying size
    for (let at = 0, size = 1; at < all.length; at += size, size = (size % 7) + 1)
      socket.write(all.subarray(at, at + size))
    await expect.poll(() => packets).toHaveLength(6)
    expect(packets.map(({ cmd }) => cmd).sort()).toEqual(
      ['connack', 'puback', 'pubcomp', 'pingresp', 'suback', 'unsuback'].sort(),
    )
    expect(broker.posts).toEqual([post({}, 'ä€😀')])
  })
})

it.each<[string, Buffer]>([
  [
    'a client id that is not UTF-8',
    bytesOf(0x10, text('MQTT'), [4, 0xc2, 0, 0], text([0xff]), text('k'), text('good')),
  ],
  ['a user name with a NUL', bytesOf(0x10, text('MQTT'), [4, 0xc2, 0, 0], text('c'), text('k\0'), text('good'))],
  ['a password alone', bytesOf(0x10, text('MQTT'), [4, 0x42, 0, 0], text('c'), text('good'))],
  ['bytes after its end', bytesOf(0x10, text('MQTT'), [4, 0xc2, 0, 0], text('c'), text('k'), text('good'), [0])],
  ['a will with wildcards', bytesOf(0x10, text('MQTT'), [4, 0x06, 0, 0], text('c'), text('a/#'), text(''))],
  ['a doubled property', bytesOf(0x10, text('MQTT'), [5, 2, 0, 0], [6, 33, 0, 1, 33, 0, 2], text('c'))],
  ['a receive maximum of 0', bytesOf(0x10, text('MQTT'), [5, 2, 0, 0], [3, 33, 0, 0], text('c'))],
])('a CONNECT with %s is not answered', async (_what, packet) => {
  const { socket, packets, closed } = await raw(await openDoor(new FakeBroker()), packet[8])
  socket.write(packet)
  await closed
  expect(packets).toEqual([])
})

const CREDENTIALS = [...text('k'), ...text('good')]
it.each<[string, 4 | 5, Buffer, object]>([
  [
    'no client id and a session to go on with',
    4,
    bytesOf(0x10, text('MQTT'), [4, 0xc0, 0, 0], text(''), CREDENTIALS),
    { returnCode: 2 },
  ],
  ['no client id', 4, bytesOf(0x10, text('MQTT'), [4, 0xc2, 0, 0], text(''), CREDENTIALS), { returnCode: 0 }],
  ['no client id', 5, bytesOf(0x10, text('MQTT'), [5, 0xc0, 0, 0], [0], text(''), CREDENTIALS), { reasonCode: 0 }],
])('a CONNECT with %s in version %i is answered', async (_what, version, packet, answer) => {
  const { packets, socket } = await raw(await openDoor(new FakeBroker()), version)
  socket.write(packet)
  await expect.poll(() => packets).toHaveLength(1)
  expect(packets).toMatchObject([{ cmd: 'connack', ...answer }])
})

it('a subscription that omits what its client posts is not granted', async () => {
  const { broker, packets, send } = await connected(5)
  const own = { topic: 'resources/r/events', qos: 1, nl: true } as const
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [own, { ...own, topic: 'resources/s/events', nl: false }] })
  await expect.poll(() => packets).toHaveLength(2)
  expect([packets[1], broker.feed.readers]).toMatchObject([{ cmd: 'suback', granted: [0x83, 1] }, 1])
})

describe('more unacknowledged messages than the receive maximum', () => {
  const message = (messageId: number, qos: 0 | 1 | 2) => published(messageId, { qos })

  it.each<[string, 4 | 5, readonly Packet[], number | undefined]>([
    ['close version 5', 5, [message(1, 1), message(2, 2), message(3, 1)], 0x93],
    ['are taken from version 4, which does not know', 4, [message(1, 1), message(2, 2), message(3, 1)], undefined],
    ['are not those of QoS 0', 5, [message(1, 1), message(0, 0), message(0, 0), message(2, 1)], undefined],
    ['are not the same one again', 5, [message(1, 2), message(1, 2), message(1, 2), message(2, 1)], undefined],
  ])('%s', async (_what, version, sent, reason) => {
    const { broker, packets, socket } = await connected(version, { limits: { inFlight: 2 } })
    const held = deferred()
    broker.hold = () => held.promise
    open.push(async () => held.resolve())
    socket.write(Buffer.concat(sent.map((packet) => generate(packet, { protocolVersion: version }))))
    if (reason === undefined) held.resolve()
    await expect.poll(() => packets.length).toBeGreaterThan(reason === undefined ? 2 : 1)
    const ended = packets.filter(({ cmd }) => cmd === 'disconnect')
    expect(ended).toMatchObject(reason === undefined ? [] : [{ reasonCode: reason }])
  })

  it('may come once those before are acknowledged', async () => {
    const door = await openDoor(new FakeBroker(), { limits: { inFlight: 2 } })
    const made = await client(door, { protocolVersion: 5 })
    for (let round = 0; round < 5; round++) {
      const post = (qos: 1 | 2) => made.publishAsync('messages', '{}', { qos })
      await Promise.all([post(1), post(2)])
    }
    expect(made.connected).toBe(true)
  })
})

it('an unknown version is rejected with the reason', async () => {
  const { socket, packets, closed } = await raw(await openDoor(new FakeBroker()))
  socket.write(bytesOf(0x10, text('MQTT'), [9, 2, 0, 0], text('c')))
  await closed
  expect(packets).toMatchObject([{ cmd: 'connack', returnCode: 1 }])
})

it('a first packet is not taken when it is larger than one has to be', async () => {
  const { socket, closed } = await raw(await openDoor(new FakeBroker()))
  // announces a packet that is too large, before sending it
  socket.write(Buffer.from([0x10, 0x80, 0x80, 0x40]))
  expect(await closed).toHaveLength(1)
})

it('nothing more is read after a packet that is too large, of which only the head came', async () => {
  const { broker, door, socket, closed, send } = await connected(4, { limits: { packetBytes: 1000 } })
  socket.write(Buffer.from([0x30, 0xff, 0xff, 0x7f]))
  for (let i = 0; i < 50; i++) send(published(0, { qos: 0 }))
  await closed
  expect([broker.posts, door.counts.faults]).toEqual([[], 1])
})

// Holds MQTT-5
describe('a mistake of a client', () => {
  it('is counted and reported with its reason, also where version 4 has to acknowledge it', async () => {
    const told: unknown[] = []
    const report: MqttOptions['report'] = (what, details) => void told.push({ what, ...details })
    const { door, send, packets } = await connected(4, { report })
    for (const messageId of [1, 2, 3]) send(published(messageId, { topic: 'nowhere' }))
    await expect.poll(() => packets).toHaveLength(4)
    expect(packets.at(-1)).toMatchObject({ cmd: 'puback', messageId: 3 })
    await expect(client(door, { password: 'bad', clientId: 'guesser' })).rejects.toThrow(/Connection refused/)
    expect(door.counts).toEqual({ refused: 3, faults: 0, wrongCredentials: 1 })
    expect(told).toMatchObject([
      {
        what: 'a message over MQTT was rejected',
        reason: 'the topic "nowhere" does not accept messages',
        topic: 'nowhere',
        tenant: 'tenant-of-k',
        key: 'k',
        client: 'c',
      },
      { what: 'the credentials of an MQTT client are wrong', key: 'k', address: '127.0.0.1' },
    ])
    expect(JSON.stringify(told)).not.toContain('bad')
  })

  it('is rejected when its body is not UTF-8', async () => {
    const { broker, socket, packets } = await connected(5)
    socket.write(bytesOf(0x32, GOOD_TOPIC, ID, [0], [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))
    await expect.poll(() => packets).toHaveLength(2)
    expect([packets[1], broker.posts]).toMatchObject([{ reasonCode: 0x99 }, []])
  })
})

it('closing waits for what is in flight into the log, and states the reason to version 5', async () => {
  const { broker, door, send, packets } = await connected(5)
  const held: (() => void)[] = []
  broker.hold = () => new Promise<void>((resolve) => void held.push(resolve))
  send(published(0, { qos: 0 }))
  await expect.poll(() => held).toHaveLength(1)
  const closing = door.close()
  await expect.poll(() => packets).toHaveLength(2)
  expect(packets[1]).toMatchObject({ cmd: 'disconnect', reasonCode: 0x8b })
  expect(broker.posts).toEqual([])
  held[0]?.()
  await closing
  expect(broker.posts).toHaveLength(1)
})

// Holds MQTT-6
it('a subscribed client is released when the broker stops publishing, whatever is in flight', async () => {
  const { broker, send, packets, closed } = await connected(5)
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'resources/r/events', qos: 1 }] })
  await expect.poll(() => packets).toHaveLength(2)
  broker.feed.end()
  await closed
  expect(packets[2]).toMatchObject({ cmd: 'disconnect', reasonCode: 0x8b })
})

it('a port in use is reported with its address', async () => {
  const door = await openDoor(new FakeBroker())
  await expect(openDoor(new FakeBroker(), { port: door.port })).rejects.toThrow(
    `MQTT cannot listen on 127.0.0.1:${door.port}`,
  )
})

it('a client whose secret waits to be checked is not closed for being silent', async () => {
  const checked = deferred<{ tenant: string; user: string }>()
  const pending = new Set<() => void>()
  const after: MqttOptions['after'] = (_ms, work) => {
    pending.add(work)
    return () => void pending.delete(work)
  }
  const door = await openDoor(new FakeBroker(), { authenticate: () => checked.promise, after })
  const { send, packets } = await raw(door)
  await expect.poll(() => pending.size).toBe(1)
  send(hello())
  await expect.poll(() => pending.size).toBe(0)
  checked.resolve({ tenant: 't', user: 'k' })
  await expect.poll(() => packets).toMatchObject([{ cmd: 'connack', returnCode: 0 }])
})
