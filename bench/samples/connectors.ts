/**
 * Sample of messages from a real broker: a backlog is read by a host on SQLite, which makes each message durable, or by
 * a consumer with the same client that only counts. The clock runs from the first share of the backlog to its end.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Admin, Consumer, ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka'
import { connectAsync, type MqttClient } from 'mqtt'
import { createClient } from '../../src/client.ts'
import { kafkaProblem, startKafka } from '../../test/support/kafka.ts'
import { findMosquitto, startMosquitto } from '../../test/support/mosquitto-broker.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess } from './host/host-process.ts'

export type ConnectorsSubject = 'kafka' | 'kafka-bare' | 'mqtt' | 'mqtt-bare'

export interface ConnectorsSample {
  readonly perSecond: number
  /** microseconds of CPU of the reading process, for each message */
  readonly cpuUs: number
  /** of the reading process, bytes */
  readonly rss: number
}

const RESOURCES = 1_000
const TOPIC = 'plant'
const PARTITIONS = 4
const MESSAGES = { kafka: 400_000, mqtt: 150_000 } as const
const PER_SEND = 5_000
/** messages of an MQTT publisher that wait for their acknowledgement */
const IN_FLIGHT = 1_000
const LOOK_MS = 20
/** share of the backlog that is read before the clock starts */
const FIRST = 0.1

interface Broker {
  readonly count: number
  readonly connection: object
  readonly topics: readonly string[]
  publish(): Promise<void>
  /** Reads the backlog, and calls `seen` with the number of messages each time. */
  read(seen: (messages: number) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

export async function connectorsSample({ subject }: { subject: ConnectorsSubject }): Promise<ConnectorsSample> {
  const broker = subject.startsWith('kafka') ? await kafka() : await mosquitto()
  try {
    return subject.endsWith('-bare') ? await bare(broker) : await withFolder((folder) => byHost(broker, folder))
  } finally {
    await broker.close()
  }
}

async function bare({ count, publish, read }: Broker): Promise<ConnectorsSample> {
  let seen = 0
  let [start, first] = [0, 0]
  let cpu = process.cpuUsage()
  let complete = (_at: number): void => undefined
  const all = new Promise<number>((resolve) => (complete = resolve))
  const take = (messages: number): void => {
    seen += messages
    if (start === 0 && seen >= count * FIRST) [start, first, cpu] = [performance.now(), seen, process.cpuUsage()]
    if (seen >= count) complete(performance.now())
  }
  // an MQTT broker keeps only what a session has subscribed to
  let end = await read(() => undefined)
  await end()
  await publish()
  end = await read(take)
  const wall = (await all) - start
  const { user, system } = process.cpuUsage(cpu)
  await end()
  return sampleOf(count - first, wall, (user + system) / 1_000, process.memoryUsage().rss)
}

async function byHost({ count, connection, topics, publish }: Broker, folder: string): Promise<ConnectorsSample> {
  const host = await startHostProcess(folder, ['--allow-url', '127.0.0.1'])
  try {
    const { sources } = createClient({ url: host.url, credentials: { token: host.token } }).connectors
    const type = 'brokers' in connection ? 'kafka' : 'mqtt'
    const map = type === 'mqtt' ? { map: { resource: 'topic/1' } } : {}
    await sources.put('plant', { type, connection, topics, start: 'earliest', ...map })
    await accepted(0)
    await sources.pause('plant')
    await publish()
    await sources.resume('plant')
    const first = await accepted(count * FIRST)
    await host.figures()
    const start = performance.now()
    const last = await accepted(count)
    const wall = performance.now() - start
    const { cpu, rss } = await host.figures()
    return sampleOf(last - first, wall, cpu, rss)

    async function accepted(least: number): Promise<number> {
      for (;;) {
        const { status } = await sources.get('plant')
        if (status.state === 'running' && status.accepted >= least) return status.accepted
        if (status.lastError !== undefined) throw new Error(status.lastError.message)
        await pause(LOOK_MS)
      }
    }
  } finally {
    await host.stop()
  }
}

function sampleOf(messages: number, wallMs: number, cpuMs: number, rss: number): ConnectorsSample {
  return { perSecond: (messages * 1_000) / wallMs, cpuUs: (cpuMs * 1_000) / messages, rss }
}

function bodyOf(n: number): string {
  return JSON.stringify({ temperature: 70 + (n % 31), humidity: 60, n })
}

async function kafka(): Promise<Broker> {
  const problem = kafkaProblem()
  if (problem !== undefined) throw new Error(problem)
  const server = await startKafka()
  const bootstrapBrokers = [server.plain]
  const admin = new Admin({ clientId: 'bench', bootstrapBrokers, retries: 30 })
  await admin.createTopics({ topics: [TOPIC], partitions: PARTITIONS, replicas: 1 })
  await admin.close()
  return {
    count: MESSAGES.kafka,
    connection: { brokers: bootstrapBrokers },
    topics: [TOPIC],
    async publish() {
      const options = { clientId: 'bench', bootstrapBrokers, serializers: stringSerializers, retries: 30 }
      const producer = new Producer({ ...options, idempotent: true, acks: ProduceAcks.ALL })
      for (let sent = 0; sent < MESSAGES.kafka; sent += PER_SEND) {
        const messages = Array.from({ length: PER_SEND }, (_, i) => {
          return { topic: TOPIC, key: `r${(sent + i) % RESOURCES}`, value: bodyOf(sent + i) }
        })
        await producer.send({ messages })
      }
      await producer.close()
    },
    async read(seen) {
      const consumer = new Consumer({ clientId: 'bench', groupId: 'bench', bootstrapBrokers, retries: 30 })
      const stream = await consumer.consume({ topics: [TOPIC], mode: 'earliest', maxBytes: 4 * 1024 * 1024 })
      stream.on('data', () => seen(1))
      return () => consumer.close(true)
    },
    close: () => server.close(),
  }
}

async function mosquitto(): Promise<Broker> {
  const program = findMosquitto()
  if (typeof program === 'string') throw new Error(program)
  const settings = ['allow_anonymous true', 'max_inflight_messages 1000', 'autosave_interval 3600']
  const server = await startMosquitto(program, settings)
  const open = (clientId: string): Promise<MqttClient> =>
    connectAsync(server.url, {
      clientId,
      clean: false,
      protocolVersion: 5,
      properties: { sessionExpiryInterval: 3_600 },
    })
  return {
    count: MESSAGES.mqtt,
    connection: { url: server.url },
    topics: [`${TOPIC}/+`],
    async publish() {
      const client = await open('publisher')
      const share = MESSAGES.mqtt / IN_FLIGHT
      const publisher = async (first: number): Promise<void> => {
        for (let n = first; n < first + share; n++) {
          await client.publishAsync(`${TOPIC}/r${n % RESOURCES}`, bodyOf(n), { qos: 1 })
        }
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, (_, i) => publisher(i * share)))
      await client.endAsync()
    },
    async read(seen) {
      const client = await open('bench')
      client.on('message', () => seen(1))
      await client.subscribeAsync(`${TOPIC}/+`, { qos: 1 })
      return () => client.endAsync()
    },
    close: () => server.stop(),
  }
}
