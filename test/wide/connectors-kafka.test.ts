/**
 * Runs connectors against a real Kafka: the suite of the port, hosts and brokers that are killed, the ways of login, and
 * topics that disappear.
 */
import { Admin, Consumer, ProduceAcks, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { kafkaConnector } from '../../src/services/connectors/kafka/kafka-connector.ts'
import { crashingHosts, type HostProcess } from '../host/host-process.ts'
import { portSuite, type SentRecord } from '../services/connectors/port-suite.ts'
import { fencedBlocks } from '../support/read-markdown.ts'
import { readText, root } from '../support/repository.ts'
import { mustRun } from '../support/run-command.ts'
import { KAFKA_USERS, kafkaProblem, type KafkaServer, startKafka, unsignedToken } from '../support/kafka.ts'

const TIMEOUT = 240_000
const problem = kafkaProblem()
let server: KafkaServer
let admin: Admin

beforeAll(async () => {
  if (problem !== undefined) return
  server = await startKafka()
  admin = new Admin({ clientId: 'tests', bootstrapBrokers: [server.plain], retries: 30 })
  // the broker creates its own topic of offsets at the first use of a group
  await create('first')
  await publish('first', [{ key: 'r', value: '1' }])
  await read('first', () => true)
}, TIMEOUT)
afterAll(async () => {
  await admin?.close()
  await server?.close()
})

async function create(topic: string): Promise<void> {
  await admin.createTopics({ topics: [topic], partitions: 3, replicas: 1 })
}

async function publish(topic: string, records: readonly SentRecord[]): Promise<void> {
  const producer = new Producer({
    clientId: 'tests',
    bootstrapBrokers: [server.plain],
    serializers: stringSerializers,
    idempotent: true,
    acks: ProduceAcks.ALL,
    retries: 30,
  })
  await producer.send({ messages: records.map(({ key, value }) => ({ topic, key, value })) })
  await producer.close()
}

/** Reads a topic from its beginning until `isEnough`. */
async function read(topic: string, isEnough: (ids: ReadonlySet<string>, values: readonly string[]) => boolean) {
  const consumer = new Consumer({
    clientId: 'tests',
    bootstrapBrokers: [server.plain],
    groupId: `tests-${topic}`,
    retries: 30,
    deserializers: stringDeserializers,
  })
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest' })
  const [ids, values] = [new Set<string>(), [] as string[]]
  for await (const { value, headers } of stream) {
    values.push(value)
    ids.add(headers.get('reflexarc-id') ?? '')
    if (isEnough(ids, values)) break
  }
  await consumer.close(true)
  return { ids, values }
}

// oxlint-disable-next-line vitest/expect-expect -- it only says why the others are left out
it.runIf(problem !== undefined)('needs Kafka', ({ skip }) => skip(problem))

if (problem === undefined) {
  portSuite(
    'kafka',
    async () => ({
      type: 'kafka',
      connector: kafkaConnector,
      connection: { brokers: [server.plain] },
      unreachable: { brokers: ['127.0.0.1:1'] },
      hasPositions: true,
      create,
      publish,
      received: async (topic, count) => (await read(topic, (_, { length }) => length === count)).values,
      close: async () => undefined,
    }),
    TIMEOUT,
  )
}

const source = (topic: string) => ({
  type: 'kafka',
  connection: { brokers: [server.plain] },
  topics: [topic],
  start: 'earliest',
})

describe.skipIf(problem !== undefined)('a host with Kafka', { timeout: TIMEOUT }, () => {
  const hosts = crashingHosts()
  const start = (name: string): Promise<HostProcess> => hosts.start(name, ['--allow-url', '127.0.0.1'])
  const status = async ({ connectors }: Client, name: string) => (await connectors.sources.get(name)).status

  // Holds CONNECTOR-1, CONNECTOR-5
  it('evaluates each message once, whatever is killed', async () => {
    const resources = Array.from({ length: 10 }, (_, i) => `line-${i}`)
    const messages = (from: number, count: number): readonly SentRecord[] =>
      Array.from({ length: count }, (_, i) => {
        return { key: resources[(from + i) % 10] ?? '', value: JSON.stringify({ n: from + i }) }
      })
    const accepted = (client: Client) => async () => (await status(client, 'plant')).accepted
    await create('plant')
    await create('plant-out')
    await create('plant-fired')
    let host = await start('killed')
    const sensors = [{ label: 'seen', name: 'invokeCount', resource: '$' }]
    const actuators = [{ label: 'told', name: 'log', properties: { message: 'seen' } }]
    const states = { statesTrigger: ['Incremented'], invocationPolicy: 0 }
    const triggers = [{ sourceLabel: 'seen', destinationLabel: 'told', ...states }]
    const tasks = []
    for (const resource of resources) {
      tasks.push(
        await host.client.rules.tasks.create({ sensors, actuators, triggers, task: { name: resource, resource } }),
      )
    }
    await host.client.connectors.sinks.put('lake', sink('plant-out', 'messages'))
    await host.client.connectors.sinks.put('fired', sink('plant-fired', 'firings'))
    await host.client.connectors.sources.put('plant', source('plant'))
    // the host is killed while it reads
    await publish('plant', messages(0, 4_000))
    await expect.poll(accepted(host.client)).toBeGreaterThan(0)
    await host.kill()
    host = await start('killed')
    // the broker is killed while the host reads
    await publish('plant', messages(4_000, 4_000))
    await expect.poll(accepted(host.client)).toBeGreaterThan(0)
    await server.kill()
    await server.start()
    await publish('plant', messages(8_000, 2_000))
    await host.kill()
    host = await start('killed')
    await expect.poll(accepted(host.client), { timeout: TIMEOUT }).toBe(10_000)
    const { rules, connectors } = host.client
    for (const { ID } of tasks) {
      expect(await rules.tasks.get(ID)).toMatchObject({ invocationCount: 1_000 })
      expect((await rules.inspection.node(ID, 'seen')).rawData).toMatchObject({ count: 1_000 })
    }
    expect(await status(host.client, 'plant')).toMatchObject({ read: 10_000, rejected: 0 })
    const sent = await read('plant-out', ({ size }) => size === 10_000)
    const numbers = new Set(sent.values.map((value) => (JSON.parse(value) as { n: number }).n))
    expect(numbers.size).toBe(10_000)
    // each message fires once, so firings have as many effect ids
    expect((await read('plant-fired', ({ size }) => size === 10_000)).ids.size).toBe(10_000)
    await expect.poll(async () => (await connectors.sinks.get('lake')).status.lag).toBe(0)
    await host.kill()
  })

  it('logs in over SASL and TLS, and reports what the broker refuses', async () => {
    await create('safe')
    const { client, kill } = await start('logins')
    const { admin: password, reader } = KAFKA_USERS
    const secrets = {
      ADMIN: password,
      READER: reader,
      WRONG: 'wrong',
      CA: server.ca,
      TOKEN: unsignedToken('admin', -60, 3_600),
      OLD_TOKEN: unsignedToken('admin', -7_200, -3_600),
    }
    for (const [name, value] of Object.entries(secrets)) {
      await client.vault.put(name, value)
    }
    const login = (user: string, vault: string, mechanism = 'plain') => ({
      brokers: [server.sasl],
      login: { mechanism, user, password: { vault } },
    })
    const token = (vault: string) => ({
      brokers: [server.sasl],
      login: { mechanism: 'oauthbearer', token: { vault } },
    })
    const tls = { brokers: [server.tls], tls: { ca: { vault: 'CA' } } }
    await publish('safe', [{ key: 'r', value: '{"n":1}' }])
    for (const [name, connection] of Object.entries({
      plain: login('admin', 'ADMIN'),
      scram: login('admin', 'ADMIN', 'scram-sha-256'),
      token: token('TOKEN'),
      tls,
    })) {
      await client.connectors.sources.put(name, { ...source('safe'), connection })
      expect(await client.connectors.sources.test(name), name).toEqual({ ok: true, found: ['safe'] })
      await expect.poll(async () => (await status(client, name)).accepted, { message: name }).toBe(1)
      await client.connectors.sources.remove(name)
    }
    const refusals = {
      password: [login('admin', 'WRONG'), /SASL_AUTHENTICATION_FAILED/],
      rights: [login('reader', 'READER'), /TOPIC_AUTHORIZATION_FAILED/],
      authority: [{ brokers: [server.tls], tls: true }, /self.signed certificate/],
      secret: [login('admin', 'MISSING'), /no secret "MISSING"/],
      expired: [token('OLD_TOKEN'), /rejected the token/],
    } as const
    for (const [name, [connection, reason]] of Object.entries(refusals)) {
      await client.connectors.sources.put(name, { ...source('safe'), connection })
      expect((await client.connectors.sources.test(name)).problem, name).toMatch(reason)
      await expect.poll(async () => (await status(client, name)).lastError?.message, { message: name }).toMatch(reason)
    }
    await kill()
  })

  it('runs the blocks of the page about Kafka', async () => {
    await create('alarms')
    await create('page')
    await publish('page', [{ key: 'boiler-1', value: '{"temperature":93,"at":1700000000}' }])
    const { url, client, kill } = await start('page')
    const blocks = fencedBlocks(readText('docs/how-to/connect-kafka.md')).filter(({ language }) => language === 'sh')
    for (const { text } of blocks) {
      const here = text.replaceAll('http://127.0.0.1:8080', url).replaceAll('kafka:9092', server.plain)
      mustRun('bash', ['-euo', 'pipefail', '-c', here.replace('["plant"]', '["page"]')], root)
    }
    await expect.poll(async () => (await status(client, 'plant')).accepted).toBe(1)
    expect(await client.broker.messages.current('boiler-1')).toMatchObject({
      temperature: 93,
      timestamp: 1_700_000_000_000,
    })
    await kill()
  })

  it('continues with a topic that was deleted and created again, and shares a group with another host', async () => {
    await create('again')
    const [one, other] = [await start('one'), await start('other')]
    const shared = { ...source('again'), group: 'shared' }
    await one.client.connectors.sources.put('again', shared)
    await publish('again', [
      { key: 'r', value: '{"n":1}' },
      { key: 'r', value: '{"n":2}' },
    ])
    const accepted =
      ({ client }: HostProcess) =>
      async () =>
        (await status(client, 'again')).accepted
    await expect.poll(accepted(one)).toBe(2)
    await admin.deleteTopics({ topics: ['again'] })
    await expect.poll(async () => (await status(one.client, 'again')).lastError?.message).toMatch(/again/)
    await create('again')
    await publish('again', [{ key: 'r', value: '{"n":3}' }])
    await expect.poll(accepted(one)).toBe(3)
    await other.client.connectors.sources.put('again', shared)
    await expect.poll(async () => (await status(other.client, 'again')).state).toBe('running')
    await publish(
      'again',
      Array.from({ length: 300 }, (_, n) => ({ key: `r${n}`, value: `{"n":${n}}` })),
    )
    const both = async () => (await accepted(one)()) + (await accepted(other)())
    // a rebalance may hand over records that the first host has read and not committed to the group yet
    await expect.poll(both).toBeGreaterThanOrEqual(303)
    await expect.poll(accepted(other)).toBeGreaterThan(0)
    await Promise.all([one.kill(), other.kill()])
  })
})

function sink(topic: string, items: string) {
  return { type: 'kafka', connection: { brokers: [server.plain] }, topic, select: { items } }
}
