import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { generate, parser as createParser, type Packet } from 'mqtt-packet'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { openMqtt, type MqttListener } from '../../../../src/services/broker/mqtt/listener.ts'
import type { MqttOptions } from '../../../../src/services/broker/mqtt/connection-context.ts'
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

/** What a raw connection is told, packet by packet. */
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

  it('hears what it subscribed to, and nothing of another tenant', async () => {
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

  it('with wrong credentials is refused', async () => {
    const door = await openDoor(new FakeBroker())
    await expect(client(door, { protocolVersion, password: 'bad' })).rejects.toThrow(/Connection refused/)
    expect(door.connections).toBe(0)
  })

  it('leaves its will when it is lost, and none when it says good-bye', async () => {
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

  it('has to go when another comes with its name', async () => {
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
  it('comes when the message is durable, and in the order of the messages', async () => {
    const broker = new FakeBroker()
    const releases = new Map<number, () => void>()
    broker.hold = ({ body }) => new Promise((resolve) => releases.set((body as { n: number }).n, resolve))
    const { send, packets } = await raw(await openDoor(broker))
    send(hello())
    for (const n of [1, 2]) {
      const payload = JSON.stringify({ n })
      send({ cmd: 'publish', topic: 'resources/r/events', payload, qos: 1, dup: false, retain: false, messageId: n })
    }
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
    const broker = new FakeBroker()
    const { send, packets } = await raw(await openDoor(broker))
    send(hello())
    const message = { cmd: 'publish', topic: 'resources/r/events', payload: '{"n":1}', qos: 2, retain: false } as const
    send({ ...message, dup: false, messageId: 7 })
    await expect.poll(() => packets).toHaveLength(2)
    send({ ...message, dup: true, messageId: 7 })
    send({ cmd: 'pubrel', messageId: 7 })
    await expect.poll(() => packets).toHaveLength(4)
    expect(packets.map(({ cmd }) => cmd)).toEqual(['connack', 'pubrec', 'pubrec', 'pubcomp'])
    expect(broker.posts).toHaveLength(1)
  })

  it('has the reason in version 5 when the message can never be taken', async () => {
    const broker = new FakeBroker()
    const { send, packets } = await raw(await openDoor(broker), 5)
    send(hello({ protocolVersion: 5 }))
    const message = { cmd: 'publish', qos: 1, dup: false, retain: false } as const
    send({ ...message, topic: 'resources/r/events', payload: '{torn', messageId: 1 })
    send({ ...message, topic: 'nowhere', payload: '{}', messageId: 2 })
    await expect.poll(() => packets).toHaveLength(3)
    expect(packets.slice(1)).toMatchObject([{ reasonCode: 0x99 }, { reasonCode: 0x90 }])
    expect(broker.posts).toEqual([])
  })

  it('is not given when the fault is ours: the connection ends, so that the message comes again', async () => {
    const broker = new FakeBroker()
    broker.hold = () => Promise.reject(new AppError('CLOSED', 'the store is shut'))
    const { send, packets, closed } = await raw(await openDoor(broker))
    send(hello())
    send({
      cmd: 'publish',
      topic: 'resources/r/events',
      payload: '{}',
      qos: 1,
      dup: false,
      retain: false,
      messageId: 1,
    })
    await closed
    expect(packets.map(({ cmd }) => cmd)).toEqual(['connack'])
  })
})

it('a refused message is told on the topic of errors', async () => {
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
  const broker = new FakeBroker()
  const { send, packets } = await raw(await openDoor(broker))
  send(hello())
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
  const broker = new FakeBroker()
  const door = await openDoor(broker, { limits: { waiting: 3 } })
  const { send, packets } = await raw(door)
  send(hello())
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'resources/r/events', qos: 1 }] })
  await expect.poll(() => broker.feed.readers).toBe(1)
  const published = () => packets.filter((packet) => packet.cmd === 'publish')
  // so many may be unacknowledged, and one more was taken from those that wait
  for (let n = 1; n <= 101; n++) {
    broker.tell('tenant-of-k', 'r', 'events', { timestamp: n })
    if (n <= 100) await expect.poll(() => published().length).toBe(n)
  }
  await new Promise(setImmediate)
  for (let n = 102; n <= 200; n++) broker.tell('tenant-of-k', 'r', 'events', { timestamp: n })
  expect(broker.feed.dropped).toBe(96)
  for (const { messageId = 0 } of published()) send({ cmd: 'puback', messageId })
  await expect.poll(() => published().length).toBe(104)
  const numbers = published().map(({ payload }) => (JSON.parse(String(payload)) as { timestamp: number }).timestamp)
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
    const broker = new FakeBroker()
    const door = await openDoor(broker, { limits: { packetBytes: 1000 } })
    const { send, closed } = await raw(door)
    send(hello())
    const payload = JSON.stringify({ text: 'x'.repeat(100_000) })
    send({ cmd: 'publish', topic: 'resources/r/events', payload, qos: 0, dup: false, retain: false })
    await closed
    expect(broker.posts).toEqual([])
  })

  it('when what comes is no packet', async () => {
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
    const { send, packets, closed } = await raw(await openDoor(new FakeBroker(), { after }))
    send(hello({ keepalive: 10 }))
    await expect.poll(() => packets).toHaveLength(1)
    send({ cmd: 'pingreq' })
    await expect.poll(() => packets).toHaveLength(2)
    const last = timers.filter(({ isOff }) => !isOff)
    expect(last.map(({ ms }) => ms)).toEqual([15_000])
    last[0]?.work()
    expect(await closed).toHaveLength(1)
  })
})

it('closing waits for what is on its way into the log, and tells version 5 why', async () => {
  const broker = new FakeBroker()
  const held: (() => void)[] = []
  broker.hold = () => new Promise<void>((resolve) => void held.push(resolve))
  const door = await openDoor(broker)
  const { send, packets } = await raw(door, 5)
  send(hello({ protocolVersion: 5 }))
  send({ cmd: 'publish', topic: 'resources/r/events', payload: '{}', qos: 0, dup: false, retain: false })
  await expect.poll(() => held).toHaveLength(1)
  await expect.poll(() => packets).toHaveLength(1)
  const closing = door.close()
  await expect.poll(() => packets).toHaveLength(2)
  expect(packets[1]).toMatchObject({ cmd: 'disconnect', reasonCode: 0x8b })
  expect(broker.posts).toEqual([])
  held[0]?.()
  await closing
  expect(broker.posts).toHaveLength(1)
})

it('a port that is taken is told by its address', async () => {
  const door = await openDoor(new FakeBroker())
  await expect(openDoor(new FakeBroker(), { port: door.port })).rejects.toThrow(
    `MQTT cannot listen on 127.0.0.1:${door.port}`,
  )
})
