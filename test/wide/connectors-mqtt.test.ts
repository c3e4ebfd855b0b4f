/** The connectors to MQTT and Sparkplug with a real Mosquitto, through kill -9 of broker and host. */
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mqttConnector } from '../../src/services/connectors/mqtt/mqtt-connector.ts'
import { crashingHosts, type HostProcess } from '../host/host-process.ts'
import { PEM } from '../host/tls-files.ts'
import { portSuite, type TestBroker } from '../services/connectors/port-suite.ts'
import { describeWithBroker } from '../support/describe-with-broker.ts'
import { type Mosquitto, startMosquitto, STORES_AT_ONCE } from '../support/mosquitto-broker.ts'
import { fencedBlocks } from '../support/read-markdown.ts'
import { readText } from '../support/repository.ts'
import { bdSeq, read, type WirePayload, written } from '../support/sparkplug-payload.ts'

const SENSORS = [{ label: 'seen', name: 'invokeCount', resource: '$' }]

describeWithBroker('with Mosquitto', (program) => {
  portSuite('mqtt', async (): Promise<TestBroker> => {
    const broker = await startMosquitto(program)
    const client = await connectAsync(broker.url, { clientId: 'suite' })
    const values = new Map<string, string[]>()
    client.on('message', (topic, payload) => void values.get(topic)?.push(payload.toString()))
    return {
      type: 'mqtt',
      connector: mqttConnector,
      connection: { url: broker.url },
      unreachable: { url: 'mqtt://127.0.0.1:1' },
      hasPositions: false,
      create: async (topic) => {
        values.set(topic, [])
        await client.subscribeAsync(topic, { qos: 1 })
      },
      publish: async (topic, records) => {
        await Promise.all(records.map(({ value }) => client.publishAsync(topic, value, { qos: 1 })))
      },
      received: async (topic, count) => {
        const got = values.get(topic) ?? []
        while (got.length < count) await new Promise((resolve) => setImmediate(resolve))
        return got.slice(0, count)
      },
      close: async () => {
        await client.endAsync()
        await broker.stop()
      },
    }
  })

  describe('a host', { timeout: 150_000 }, () => {
    const hosts = crashingHosts()
    const start = (name: string): Promise<HostProcess> => hosts.start(name, ['--allow-url', '127.0.0.1'])
    let broker: Mosquitto
    beforeAll(async () => {
      broker = await startMosquitto(program, ['allow_anonymous true', 'max_inflight_messages 256', ...STORES_AT_ONCE])
    })
    afterAll(() => broker.stop())
    const client = (options: IClientOptions = {}): Promise<MqttClient> =>
      connectAsync(broker.url, { reconnectPeriod: 0, protocolVersion: 5, ...options })
    const running = (host: HostProcess, name: string) =>
      expect
        .poll(async () => (await host.client.connectors.sources.get(name)).status)
        .toMatchObject({ state: 'running' })

    it('evaluates each message once, whatever is killed', async () => {
      let host = await start('killed')
      const count = { 'line-1': 0, 'line-2': 0 }
      const tasks = new Map<string, string>()
      for (const resource of Object.keys(count)) {
        const { ID } = await host.client.rules.tasks.create({ sensors: SENSORS, task: { name: resource, resource } })
        tasks.set(resource, ID)
      }
      const seen = (resource: string) => async () => {
        const { rawData } = await host.client.rules.inspection.node(tasks.get(resource) ?? '', 'seen')
        return (rawData as { count?: number } | undefined)?.count ?? 0
      }
      const document = {
        type: 'mqtt',
        connection: { url: broker.url },
        topics: ['plant/+/up'],
        map: { resource: 'topic/1' },
      }
      await host.client.connectors.sources.put('plant', document)
      await running(host, 'plant')
      const publish = async (made: MqttClient, line: 'line-1' | 'line-2', most: number) => {
        const all = Array.from({ length: most }, () => ++count[line])
        const messageOf = (n: number) => (line === 'line-1' ? { n } : { n, timestamp: 1_000_000 + n })
        await Promise.all(
          all.map((n) => made.publishAsync(`plant/${line}/up`, JSON.stringify(messageOf(n)), { qos: 1 })),
        )
      }
      // without timestamps, so that a repeated message would be a new reading
      let publisher = await client()
      for (let kill = 0; kill < 2; kill++) {
        const before = count['line-1']
        const published = publish(publisher, 'line-1', 1_000)
        await expect.poll(seen('line-1')).toBeGreaterThan(before)
        await host.kill()
        await published
        await publish(publisher, 'line-1', 100)
        host = await start('killed')
        await expect.poll(seen('line-1')).toBe(count['line-1'])
      }
      // what the broker had sent or acknowledged, but not stored, comes again; timestamps identify it
      await publish(publisher, 'line-2', 1_000)
      await publisher.endAsync()
      await broker.kill()
      await broker.start()
      publisher = await client()
      await running(host, 'plant')
      await publish(publisher, 'line-2', 1)
      await expect.poll(seen('line-2')).toBe(count['line-2'])
      const { status } = await host.client.connectors.sources.get('plant')
      expect(status).toMatchObject({ rejected: 0 })
      await publisher.endAsync()
      await host.kill()
    })

    it('reads plain values, retained ones first, and shares a topic', async () => {
      const host = await start('values')
      const publisher = await client()
      await publisher.publishAsync('hall/lamp-1/state', 'on', { qos: 1, retain: true })
      const connection = { url: broker.url }
      const map = { resource: 'topic/1', metric: 'topic/2' }
      const { sources } = host.client.connectors
      await sources.put('hall', { type: 'mqtt', connection, topics: ['hall/+/state'], map })
      await sources.put('shared', { type: 'mqtt', connection, topics: ['$share/hosts/hall/+/level'], map })
      await running(host, 'hall')
      await running(host, 'shared')
      const current = (id: string) => host.client.broker.messages.current(id).catch(() => ({}))
      await expect.poll(() => current('lamp-1')).toMatchObject({ state: 'on' })
      await publisher.publishAsync('hall/lamp-2/state', 'true', { qos: 1 })
      await publisher.publishAsync('hall/lamp-3/level', '21.5', { qos: 1 })
      await publisher.publishAsync('hall/lamp-4/state', '{torn', { qos: 1 })
      await expect.poll(() => current('lamp-2')).toMatchObject({ state: true })
      await expect.poll(() => current('lamp-3')).toMatchObject({ level: 21.5 })
      await expect
        .poll(() => sources.rejected('hall'))
        .toMatchObject({ values: [{ code: 'NOT_JSON', topic: 'hall/lamp-4/state' }] })
      await publisher.publishAsync('hall/lamp-1/state', '', { retain: true })
      await publisher.endAsync()
      await host.kill()
    })

    it('runs the page, and follows nodes of Sparkplug from birth to death', async () => {
      const host = await start('page')
      const { sources } = host.client.connectors
      for (const { text } of fencedBlocks(readText('docs/how-to/connect-mqtt.md')).slice(1)) {
        const ours = text
          .replaceAll('127.0.0.1:1883', `127.0.0.1:${broker.port}`)
          .replaceAll('http://127.0.0.1:8080', host.url)
          .replaceAll('me:my-secret', 'k:s')
        execFileSync('bash', ['-euc', ours])
      }
      for (const name of ['plant', 'cells']) await running(host, name)
      const publisher = await client()
      await publisher.publishAsync('plant/boiler-1/temperature', '93', { qos: 1 })
      const { messages } = host.client.broker
      await expect.poll(() => messages.current('boiler-1').catch(() => ({}))).toMatchObject({ temperature: 93 })

      const node = await client({
        will: {
          topic: 'spBv1.0/cells/NDEATH/press-1',
          payload: written({ metrics: [bdSeq(1)] }),
          qos: 1,
          retain: false,
        },
      })
      const received: [string, WirePayload | string][] = []
      node.on('message', (topic, payload) => {
        received.push([topic, topic.includes('/STATE/') ? payload.toString() : read(payload)])
      })
      await node.subscribeAsync(['spBv1.0/cells/NCMD/press-1', 'spBv1.0/cells/DCMD/press-1/#', 'spBv1.0/STATE/#'])
      await expect
        .poll(() => received)
        .toMatchObject([['spBv1.0/STATE/reflexarc-cells', expect.stringContaining('"online":true')]])
      let seq = -1
      const publish = (type: string, metrics: WirePayload['metrics'], device = '') =>
        node.publishAsync(
          `spBv1.0/cells/${type}/press-1${device}`,
          written({ timestamp: Date.now(), seq: ++seq % 256, metrics: metrics ?? [] }),
        )
      const force = { name: 'force', alias: 3, datatype: 10 }
      // data without a birth: the host requests it
      await publish('NDATA', [])
      const rebirth = { metrics: [{ name: 'Node Control/Rebirth', boolean_value: true }] }
      await expect.poll(() => received.at(-1)).toMatchObject(['spBv1.0/cells/NCMD/press-1', rebirth])
      seq = -1
      await publish('NBIRTH', [bdSeq(1)])
      await publish('DBIRTH', [{ ...force, double_value: 1 }], '/drive')
      await publish('DDATA', [{ alias: 3, double_value: 2.5 }], '/drive')
      const resource = 'cells/press-1/drive'
      await expect.poll(() => messages.current(resource).catch(() => ({}))).toMatchObject({ force: 2.5 })
      const presence = async (id: string) => (await host.client.resources.resources.get(id)).value['presence']
      expect(await Promise.all(['cells/press-1', resource].map(presence))).toEqual(['online', 'online'])
      await host.client.broker.posting.command(resource, { name: 'Outputs/Fan', value: true })
      await expect
        .poll(() => received.at(-1))
        .toMatchObject([
          'spBv1.0/cells/DCMD/press-1/drive',
          { metrics: [{ name: 'Outputs/Fan', boolean_value: true }] },
        ])
      node.stream.destroy()
      for (const id of ['cells/press-1', resource]) await expect.poll(() => presence(id)).toBe('offline')
      expect((await sources.get('cells')).status).toMatchObject({ state: 'running', rejected: 0 })
      await publisher.endAsync()
      await host.kill()
    })
  })

  it('a broker with TLS, a client certificate and a password accepts only a connection with all of them', async () => {
    const passwords = join(dirname(PEM('ca.pem')), '..', '..', 'node_modules', '.cache', `mosquitto-${process.pid}`)
    const tool = join(dirname(program.path), '../bin/mosquitto_passwd')
    execFileSync(tool, ['-b', '-c', passwords, 'plant', 'secret'], { env: program.env, stdio: 'pipe' })
    const secure = await startMosquitto(
      program,
      [
        'allow_anonymous false',
        `password_file ${passwords}`,
        `cafile ${PEM('ca.pem')}`,
        `certfile ${PEM('server.pem')}`,
        `keyfile ${PEM('server.key')}`,
        'require_certificate true',
      ],
      'mqtts',
    )
    const tls = { ca: PEM.text('ca.pem'), cert: PEM.text('device.pem'), key: PEM.text('device.key') }
    const login = { user: 'plant', password: 'secret' }
    const tested = (connection: object) =>
      mqttConnector.test({
        document: { type: 'mqtt', connection: {}, topics: ['a/#'] },
        connection: { url: secure.url, ...connection },
        clientId: 'tester',
        signal: new AbortController().signal,
        report: () => undefined,
      })
    expect(await tested({ tls, login })).toEqual({ ok: true, found: ['a/#'] })
    const refused = [
      { tls: { ca: tls.ca }, login },
      { tls, login: { ...login, password: 'wrong' } },
      { tls },
      { login },
    ]
    for (const connection of refused) {
      const { ok, problem } = await tested(connection)
      expect([ok, typeof problem], JSON.stringify(Object.keys(connection))).toEqual([false, 'string'])
    }
    await secure.stop()
  })
})
