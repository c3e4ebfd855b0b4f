/** Kept sessions and retained messages over the real broker: with mqtt.js, with mosquitto, and by a model. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { promisify } from 'node:util'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { generate, type IPublishPacket, parser as createParser, type Packet } from 'mqtt-packet'
import { afterEach, describe, expect, it } from 'vitest'
import { nextSeed, randomOf } from '../../../../src/kernel/random.ts'
import { DeviceSessions } from '../../../../src/services/broker/kept/device-sessions.ts'
import { RetainedMessages } from '../../../../src/services/broker/kept/retained-messages.ts'
import { openMqtt, type MqttListener } from '../../../../src/services/broker/mqtt/listener.ts'
import { SWEEP_MS } from '../../../../src/services/broker/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { cases } from '../../../support/arbitraries/runs.ts'
import { describeWithMosquitto } from '../../../support/mosquitto.ts'
import { brokerBench, NOON, type BrokerBench } from '../support/bench-of-broker.ts'

const run = promisify(execFile)
const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

interface Host {
  readonly bench: BrokerBench
  readonly door: MqttListener
}

/** The keys of the hosts of a test, with their marks. */
class Keys {
  readonly marks = new Map([
    ['k', '1'],
    ['other', '1'],
  ])
  readonly #watching = new Set<readonly [key: string, gone: () => void]>()

  readonly mark = async (key: string) => this.marks.get(key)
  readonly watch = (key: string, _mark: string, gone: () => void) => {
    const entry = [key, gone] as const
    this.#watching.add(entry)
    return () => void this.#watching.delete(entry)
  }

  remove(key: string): void {
    this.marks.delete(key)
    for (const [of, gone] of this.#watching) if (of === key) gone()
  }
}

interface Making {
  readonly storage?: Storage
  readonly clock?: { now: number }
  readonly keys?: Keys
  /** resources of the key `k` */
  readonly own?: () => readonly string[]
  readonly timers?: { ms: number; work: () => void }[]
}

async function newHost({ storage, clock = { now: NOON }, keys = new Keys(), own, timers }: Making = {}): Promise<Host> {
  const bench = await brokerBench({ ...(storage && { storage }), clock, keys })
  let ids = 0
  const rights = () => own && { scopes: ['device' as const, 'read' as const], resources: { ids: own() } }
  const caller = (user: string) => ({ tenant: 'acme', user, ...(own && { rights: rights() }) })
  const door = await openMqtt({
    api: (by) => bench.service.as(by),
    sessions: () => bench.service.kept?.sessions,
    authenticate: async (key) => caller(key),
    host: '127.0.0.1',
    port: 0,
    newId: () => `client-${++ids}`,
    ...(timers && { after: (ms, work) => (timers.push({ ms, work }), () => undefined) }),
  })
  open.push(async () => {
    await door.close()
    await bench.service.stop()
    await bench.app.close()
  })
  return { bench, door }
}

async function client({ door }: Host, options: IClientOptions = {}): Promise<MqttClient> {
  const made = await connectAsync(`mqtt://127.0.0.1:${door.port}`, {
    username: 'k',
    password: 'good',
    clientId: 'c',
    reconnectPeriod: 0,
    ...options,
  })
  open.push(() => made.endAsync(true))
  return made
}

const kept = (version: 4 | 5, more: IClientOptions = {}): IClientOptions => ({
  protocolVersion: version,
  clean: false,
  ...(version === 5 && { properties: { sessionExpiryInterval: 3600 } }),
  ...more,
})

const command = ({ bench }: Host, name: string, resource = 'r') => bench.api.posting.command(resource, { name })
const COMMANDS = 'resources/r/commands'

/** A connection by packets, which acknowledges only what the test acknowledges. */
async function raw({ door }: Host, version: 4 | 5, more: object = {}) {
  const socket = connectTcp(door.port, '127.0.0.1')
  open.push(async () => socket.destroy())
  const packets: Packet[] = []
  const parser = createParser({ protocolVersion: version })
  parser.on('packet', (packet) => void packets.push(packet))
  socket.on('data', (bytes) => void parser.parse(bytes))
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  const send = (packet: Packet): void => void socket.write(generate(packet, { protocolVersion: version }))
  send({
    cmd: 'connect',
    clientId: 'c',
    protocolVersion: version,
    clean: false,
    username: 'k',
    password: Buffer.from('good'),
    ...(version === 5 && { properties: { sessionExpiryInterval: 3600 } }),
    ...more,
  })
  await expect.poll(() => packets.length).toBeGreaterThan(0)
  const published = () => packets.filter((packet): packet is IPublishPacket => packet.cmd === 'publish')
  const connack = packets[0] as { sessionPresent?: boolean; properties?: { sessionExpiryInterval?: number } }
  return { socket, packets, published, connack, closed, send }
}

const nameOf = ({ payload }: IPublishPacket): unknown => (JSON.parse(String(payload)) as { name: unknown }).name
const subscribe = (topic: string, more: object = {}): Packet => ({
  cmd: 'subscribe',
  messageId: 7,
  subscriptions: [{ topic, qos: 1, ...more }],
})

// Holds MQTT-7, MQTTSESSION-1
describe.each([4, 5] as const)('a device of version %i that sleeps', (version) => {
  it('receives its commands in order when it returns, without subscribing again', async () => {
    const host = await newHost()
    const first = await client(host, kept(version))
    await first.subscribeAsync(COMMANDS, { qos: 1 })
    await first.endAsync()
    for (const name of ['a', 'b', 'c']) await command(host, name)
    await command(host, 'not for it', 's')
    const again = await raw(host, version)
    await expect.poll(() => again.published().length).toBe(3)
    expect(again.connack.sessionPresent).toBe(true)
    expect(again.published().map((one) => [nameOf(one), one.topic, one.dup, one.qos])).toEqual(
      ['a', 'b', 'c'].map((name) => [name, COMMANDS, false, 1]),
    )
  })

  it('receives a command again, as a duplicate, under its packet id, until it acknowledges it', async () => {
    const host = await newHost()
    const first = await raw(host, version)
    expect(first.connack.sessionPresent).toBe(false)
    first.send(subscribe(COMMANDS))
    await expect.poll(() => first.packets.length).toBe(2)
    for (const name of ['a', 'b']) await command(host, name)
    await expect.poll(() => first.published().map(nameOf)).toEqual(['a', 'b'])
    const [a, b] = first.published()
    first.send({ cmd: 'puback', messageId: a?.messageId ?? 0 })
    await expect.poll(() => host.bench.service.gauges().pending).toBe(1)
    first.socket.destroy()
    const second = await raw(host, version)
    await expect.poll(() => second.published().length).toBe(1)
    expect(second.published()[0]).toMatchObject({ dup: true, messageId: b?.messageId })
    second.send({ cmd: 'puback', messageId: b?.messageId ?? 0 })
    await expect.poll(() => host.bench.service.gauges().pending).toBe(0)
  })

  it('begins without a session when it asks for a clean start', async () => {
    const host = await newHost()
    const first = await client(host, kept(version))
    await first.subscribeAsync(COMMANDS, { qos: 1 })
    await first.endAsync()
    await command(host, 'a')
    const clean = await raw(host, version, { clean: true, properties: {} })
    expect([clean.connack.sessionPresent, host.bench.service.gauges().pending]).toEqual([false, 0])
    clean.socket.destroy()
    await clean.closed
    const after = await raw(host, version)
    expect(after.connack.sessionPresent).toBe(false)
  })

  it('receives nothing for what it unsubscribed from', async () => {
    const host = await newHost()
    const first = await client(host, kept(version))
    await first.subscribeAsync([COMMANDS, 'resources/s/commands'], { qos: 1 })
    await first.unsubscribeAsync(COMMANDS)
    await first.endAsync()
    await command(host, 'a')
    await command(host, 'b', 's')
    const again = await raw(host, version)
    await expect.poll(() => again.published().map(nameOf)).toEqual(['b'])
  })

  it.each([1, 2])('keeps its session through %i hosts that die', async (deaths) => {
    const [clock, keys] = [{ now: NOON }, new Keys()]
    const before = await newHost({ clock, keys })
    const first = await raw(before, version)
    first.send(subscribe(COMMANDS))
    await expect.poll(() => first.packets.length).toBe(2)
    await command(before, 'seen')
    await expect.poll(() => first.published().length).toBe(1)
    // the host is left as it is: nothing of it is stopped before the next one opens its store
    let after = await newHost({ storage: before.bench.storage, clock, keys })
    await command(after, 'later')
    if (deaths > 1) after = await newHost({ storage: before.bench.storage, clock, keys })
    const again = await raw(after, version)
    expect(again.connack.sessionPresent).toBe(true)
    await expect
      .poll(() => again.published().map((one) => [nameOf(one), one.dup]))
      .toEqual([
        ['seen', true],
        ['later', false],
      ])
  })
})

// Holds MQTTSESSION-2
it.each([
  ['in number', { commands: 3 }, ['c', 'd', 'e']],
  ['in bytes', { bytes: 120 }, ['d', 'e']],
])('waiting commands are bounded %s: the oldest are dropped, and counted', async (_, limits, left) => {
  const host = await newHost()
  const store = host.bench.storage.tenant('bounded')
  const made = new DeviceSessions({ store, keys: new Keys(), now: () => NOON, report: () => undefined, limits })
  await made.start()
  const request = { key: 'k', clientId: 'c', isClean: false, expiry: 60, isDevice: false, holder: {} }
  const session = (await made.open(request))?.session
  if (session === undefined) throw new Error('no session was kept')
  await made.subscribe(session, { filter: COMMANDS, qos: 1, commandsOf: 'r' })
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const message = { timestamp: NOON, name, text: 'x'.repeat(10) }
    const one = { resource: 'r', message, text: JSON.stringify(message) }
    await store.commit(made.planning(one, false))
    made.committed(one)
  }
  await made.sweep()
  const read = await Promise.all([...session.waiting.values()].map((one) => made.read(session, one)))
  expect(read.map((one) => one?.message['name'])).toEqual(left)
  expect([made.dropped, made.waiting]).toEqual([5 - left.length, left.length])
})

// Holds MQTTSESSION-3, MQTTSESSION-4
describe('a session', () => {
  const asleep = async (making: Making = {}, more: IClientOptions = {}): Promise<Host> => {
    const host = await newHost(making)
    const first = await client(host, kept(5, more))
    await first.subscribeAsync([COMMANDS, 'resources/s/commands'], { qos: 1 })
    await first.endAsync()
    await command(host, 'a')
    await command(host, 'b', 's')
    return host
  }

  it('of another key is neither continued nor ended', async () => {
    const host = await asleep()
    const other = await raw(host, 5, { username: 'other' })
    expect(other.connack.sessionPresent).toBe(false)
    const own = await raw(host, 5)
    await expect.poll(() => own.published().map(nameOf)).toEqual(['a', 'b'])
    expect(other.packets.map(({ cmd }) => cmd)).toEqual(['connack'])
  })

  it('ends with its key, and is not that of a later key of the same name', async () => {
    const keys = new Keys()
    const host = await asleep({ keys })
    keys.remove('k')
    expect(host.bench.service.gauges()).toMatchObject({ sessions: 0, pending: 0 })
    keys.marks.set('k', '2')
    expect((await raw(host, 5)).connack.sessionPresent).toBe(false)
  })

  it('ends at the start of a host when its key was removed meanwhile', async () => {
    const keys = new Keys()
    const { bench } = await asleep({ keys })
    keys.marks.set('k', '2')
    const after = await newHost({ storage: bench.storage, keys })
    expect(after.bench.service.gauges()).toMatchObject({ sessions: 0, pending: 0 })
  })

  it('has no more than the rights of its key', async () => {
    let own = ['r', 's']
    const host = await asleep({ own: () => own })
    own = ['s']
    const again = await raw(host, 5)
    await expect.poll(() => again.published().map(nameOf)).toEqual(['b'])
    await expect.poll(() => host.bench.service.gauges().pending).toBe(1)
  })

  it('loses the subscriptions and commands of a deleted resource, and ends without any', async () => {
    const host = await asleep()
    await host.bench.service.resourceRemoved('r')
    expect(host.bench.service.gauges()).toMatchObject({ sessions: 1, pending: 1 })
    await host.bench.service.resourceRemoved('s')
    expect(host.bench.service.gauges()).toMatchObject({ sessions: 0, pending: 0 })
  })

  it.each<[string, IClientOptions, number]>([
    ['a second before its time', {}, 3_599_000],
    ['at its time', {}, 3_600_000],
    ['of version 3.1.1 a second before seven days', { protocolVersion: 4 }, 604_799_000],
    ['of version 3.1.1 after seven days', { protocolVersion: 4 }, 604_800_000],
  ])('%s', async (_, more, ms) => {
    const clock = { now: NOON }
    const host = await asleep({ clock }, more)
    clock.now += ms
    host.bench.timers.fire(SWEEP_MS)
    const isLeft = ms % 10_000 !== 0
    await expect.poll(() => host.bench.service.gauges().sessions).toBe(isLeft ? 1 : 0)
    expect((await raw(host, 5)).connack.sessionPresent).toBe(isLeft)
  })

  it('is bounded in time: the host states for how long it is kept', async () => {
    const host = await newHost()
    const asked = async (seconds: number) =>
      (await raw(host, 5, { properties: { sessionExpiryInterval: seconds } })).connack.properties
    expect(await asked(0xffff_ffff)).toMatchObject({ sessionExpiryInterval: 604_800 })
    expect(await asked(60)).toMatchObject({ sessionExpiryInterval: 60 })
  })

  it('ends with a DISCONNECT that asks for it, and cannot begin with one', async () => {
    const host = await newHost()
    const first = await raw(host, 5)
    first.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } })
    await first.closed
    expect(host.bench.service.gauges().sessions).toBe(0)
    const second = await raw(host, 5, { properties: {} })
    second.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 60 } })
    await second.closed
    expect(second.packets.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x82 })
  })

  it('continues with a message of QoS 2 that was not released', async () => {
    const host = await newHost()
    const message: Packet = {
      cmd: 'publish',
      topic: 'messages',
      payload: '[]',
      qos: 2,
      dup: false,
      retain: false,
      messageId: 3,
    }
    const first = await raw(host, 5)
    first.send({ ...message, payload: '{"resource":"r","timestamp":1,"t":1}' })
    await expect.poll(() => first.packets.at(-1)).toMatchObject({ cmd: 'pubrec', messageId: 3 })
    first.socket.destroy()
    const second = await raw(host, 5)
    second.send({ ...message, dup: true, payload: '{"resource":"r","timestamp":1,"t":1}' })
    second.send({ cmd: 'pubrel', messageId: 3 })
    await expect.poll(() => second.packets.map(({ cmd }) => cmd)).toEqual(['connack', 'pubrec', 'pubcomp'])
    expect(host.bench.service.gauges().accepted).toBe(1)
  })

  it('delays the will of its client, which a return calls off', async () => {
    const timers: { ms: number; work: () => void }[] = []
    const host = await newHost({ timers })
    const payload = Buffer.from('{"lost":1}')
    const will = { topic: 'resources/r/events', payload, qos: 1, retain: false, properties: { willDelayInterval: 30 } }
    const first = await raw(host, 5, { will })
    first.socket.destroy()
    await expect.poll(() => timers.some(({ ms }) => ms === 30_000)).toBe(true)
    expect(host.bench.service.gauges().accepted).toBe(0)
    timers.find(({ ms }) => ms === 30_000)?.work()
    await expect.poll(() => host.bench.service.gauges().accepted).toBe(1)
  })
})

// Holds MQTT-8, RETAIN-1
describe.each([4, 5] as const)('a retained message, in version %i', (version) => {
  const publish = async (host: Host, topic: string, text: string, retain = true) => {
    const made = await client(host, { protocolVersion: version, clientId: 'publisher' })
    await made.publishAsync(topic, text, { qos: 1, retain })
    await made.endAsync()
  }

  it.each([
    ['events', 'resources/r/events', 'resources/r/events'],
    ['events, by a wildcard', 'resources/r/events', 'resources/+/events'],
    ['commands', COMMANDS, COMMANDS],
  ])('of %s is the first that a subscriber receives', async (_, topic, filter) => {
    const host = await newHost()
    await publish(host, topic, '{"name":"old","timestamp":1}')
    await publish(host, topic, '{"name":"kept","timestamp":2}')
    await publish(host, topic, '{"name":"passing","timestamp":3}', false)
    const after = await newHost({ storage: host.bench.storage })
    const { send, published } = await raw(after, version, { clean: true, properties: {} })
    send(subscribe(filter))
    await expect
      .poll(() => published().map((one) => [nameOf(one), one.topic, one.retain]))
      .toEqual([['kept', topic, true]])
  })

  it('is cleared by an empty one, in the order of the messages', async () => {
    const host = await newHost()
    const made = await client(host, { protocolVersion: version, clientId: 'publisher' })
    const topic = (id: string) => `resources/${id}/events`
    await Promise.all([
      made.publishAsync(topic('r'), '{"name":"kept"}', { qos: 1, retain: true }),
      made.publishAsync(topic('r'), '', { qos: 1, retain: true }),
      made.publishAsync(topic('s'), '', { qos: 1, retain: true }),
      made.publishAsync(topic('s'), '{"name":"last"}', { qos: 1, retain: true }),
    ])
    const { send, published } = await raw(host, version, { clean: true, properties: {} })
    send(subscribe('resources/#'))
    await expect.poll(() => published().map(nameOf)).toEqual(['last'])
    expect(host.bench.service.gauges()).toMatchObject({ retained: 1, accepted: 2 })
  })

  it('is a command that a sleeping device acknowledges as any other', async () => {
    const host = await newHost()
    await publish(host, COMMANDS, '{"name":"kept"}')
    const first = await raw(host, version)
    first.send(subscribe(COMMANDS))
    await expect.poll(() => first.published().map((one) => [nameOf(one), one.retain])).toEqual([['kept', true]])
    first.socket.destroy()
    const again = await raw(host, version)
    await expect.poll(() => again.published().map((one) => [nameOf(one), one.dup])).toEqual([['kept', true]])
  })

  it('is deleted with its resource', async () => {
    const host = await newHost()
    await publish(host, COMMANDS, '{"name":"kept"}')
    await host.bench.service.resourceRemoved('r')
    expect(host.bench.service.gauges().retained).toBe(0)
  })
})

describe('the options of a subscription of version 5', () => {
  it.each<[string, object, boolean[]]>([
    ['retain handling 0: at each subscription', { rh: 0 }, [true, true]],
    ['retain handling 1: at a new one', { rh: 1 }, [true, false]],
    ['retain handling 2: never', { rh: 2 }, [false, false]],
  ])('%s', async (_, options, expected) => {
    const host = await newHost()
    await host.bench.api.retained.publish('r', 'events', { name: 'kept' })
    const { send, packets, published } = await raw(host, 5)
    const seen: boolean[] = []
    for (const _round of expected) {
      const before = published().length
      send(subscribe('resources/r/events', options))
      send({ cmd: 'pingreq' })
      await expect.poll(() => packets.filter(({ cmd }) => cmd === 'pingresp').length).toBe(seen.length + 1)
      // a message after the subscription comes after the retained one
      await host.bench.api.posting.events('r', { name: 'live' })
      await expect
        .poll(() =>
          published()
            .slice(before)
            .some((one) => nameOf(one) === 'live'),
        )
        .toBe(true)
      seen.push(
        published()
          .slice(before)
          .some((one) => nameOf(one) === 'kept'),
      )
    }
    expect(seen).toEqual(expected)
  })

  it.each([true, false])('retain as published is %s', async (rap) => {
    const host = await newHost()
    const { send, packets, published } = await raw(host, 5)
    send(subscribe('resources/+/events', { rap }))
    send(subscribe(COMMANDS, { rap }))
    await expect.poll(() => packets.length).toBe(3)
    await host.bench.api.retained.publish('r', 'events', { name: 'e' })
    await host.bench.api.retained.publish('r', 'commands', { name: 'c' })
    await expect
      .poll(() => published().map((one) => [nameOf(one), one.retain]))
      .toEqual([
        ['e', rap],
        ['c', rap],
      ])
  })
})

// Holds RETAIN-2
it('retained messages are bounded: the least recently written one is dropped, and counted', async () => {
  const host = await newHost()
  const store = host.bench.storage.tenant('bounded')
  const made = new RetainedMessages(store, () => undefined, 2)
  for (const resource of ['a', 'b', 'a', 'c']) {
    const message = { timestamp: NOON }
    const arrivals = [{ resource, message, text: JSON.stringify(message) }]
    const post = {
      channel: 'events',
      arrivals,
      arrived: NOON,
      store: true,
      forward: true,
      hops: 0,
      retain: true,
    } as const
    await store.commit(made.planning(post))
    made.committed(post)
  }
  await made.idle()
  const again = new RetainedMessages(store, () => undefined, 2)
  await again.start()
  expect([again.resources(), made.dropped]).toEqual([['a', 'c'], 1])
})

// Holds MQTT-7, MQTTSESSION-1
it('whatever happens to connection and host, a device receives each command in order until it acknowledges it', async () => {
  let seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const first = seed
  const upTo = (most: number): number => {
    seed = nextSeed(seed)
    return Math.floor(randomOf(seed) * most)
  }
  const keys = new Keys()
  let host = await newHost({ keys })
  const connected = async () => {
    const made = await raw(host, 5)
    if (made.connack.sessionPresent !== true) {
      made.send(subscribe(COMMANDS))
      await expect.poll(() => made.packets.length).toBe(2)
    }
    return made
  }
  /** commands that the device has not acknowledged; `wasSent`: it received them before */
  let waiting: { readonly name: string; wasSent: boolean }[] = []
  let device: Awaited<ReturnType<typeof connected>> | undefined = await connected()
  const seen = async (): Promise<void> => {
    if (device === undefined) return
    const { published } = device
    const expected = waiting.map(({ name, wasSent }) => [name, wasSent])
    await expect
      .poll(() => published().map((one) => [nameOf(one), one.dup]), { message: `seed ${first}` })
      .toEqual(expected)
  }
  let count = 0
  for (let step = 0; step < cases(150); step++) {
    const what = upTo(10)
    if (what < 5) {
      const name = `n${++count}`
      await command(host, name)
      waiting.push({ name, wasSent: false })
    } else if (what < 7 && device !== undefined) {
      await seen()
      const some = device.published().slice(0, upTo(4))
      for (const { messageId = 0 } of some) device.send({ cmd: 'puback', messageId })
      waiting = waiting.slice(some.length)
      await expect.poll(() => host.bench.service.gauges().pending, { message: `seed ${first}` }).toBe(waiting.length)
      device.socket.destroy()
      await device.closed
      for (const one of waiting) one.wasSent = true
      device = undefined
    } else if (what < 9) {
      // another connection of the same client takes over
      await seen()
      if (device !== undefined) for (const one of waiting) one.wasSent = true
      const before = device
      device = await connected()
      await before?.closed
    } else {
      await seen()
      if (device !== undefined) for (const one of waiting) one.wasSent = true
      host = await newHost({ keys, storage: host.bench.storage })
      device = undefined
    }
  }
  device ??= await connected()
  await seen()
})

describeWithMosquitto('mosquitto_sub', () => {
  it.each(['mqttv311', 'mqttv5'])('by %s continues its session, and receives retained messages', async (version) => {
    const host = await newHost()
    const common = ['-h', '127.0.0.1', '-p', String(host.door.port), '-u', 'k', '-P', 'good', '-V', version]
    const session = ['-i', 'sleeper', '-c', '-q', '1', '-t', COMMANDS, '-W', '20']
    const expiry = version === 'mqttv5' ? ['-x', '3600'] : []
    await run('mosquitto_sub', [...common, ...session, ...expiry, '-E'])
    for (const name of ['a', 'b']) await command(host, name)
    const { stdout } = await run('mosquitto_sub', [...common, ...session, ...expiry, '-C', '2', '-F', '%t %r %p'])
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/ \{.*"name":"(\w)".*/, ' $1'))
    expect(names).toEqual([`${COMMANDS} 0 a`, `${COMMANDS} 0 b`])
    await run('mosquitto_pub', [...common, '-t', 'resources/r/events', '-q', '1', '-r', '-m', '{"t":1}'])
    const listening = [...common, '-t', 'resources/+/events', '-C', '1', '-W', '20', '-F', '%t %r']
    expect((await run('mosquitto_sub', listening)).stdout).toBe('resources/r/events 1\n')
    await run('mosquitto_pub', [...common, '-t', 'resources/r/events', '-q', '1', '-r', '-n'])
    expect(host.bench.service.gauges().retained).toBe(0)
  })
})
