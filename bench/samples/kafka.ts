/** Sample of the engine on Kafka: CPU time for each message of a worker, and of a bare consumer and producer. */
import { setTimeout as pause } from 'node:timers/promises'
import { Consumer, murmur2, ProduceAcks, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { createBuiltins } from '../../plugins/index.ts'
import type { Rule } from '../../src/core/index.ts'
import { createTopics } from '../../src/kafka/client/create-topics.ts'
import { KafkaLog } from '../../src/kafka/client/kafka-log.ts'
import { rulesToPublish } from '../../src/kafka/publish-rules.ts'
import { Worker } from '../../src/kafka/worker.ts'
import { generatorHere } from '../../src/platform/generate.ts'
import { kafkaProblem, type KafkaServer, startKafka } from '../../test/support/kafka.ts'

export type KafkaSubject = 'bare' | 'worker'

export interface KafkaSample {
  /** us of CPU time */
  readonly perMessage: number
}

const RESOURCES = 500
const MESSAGES = 100_000
const PER_SEND = 1_000
const PARTITIONS = 8
const PREFIX = 'bench.'
/** one output of so many messages, as the rules have */
const PER_OUTPUT = 100

export async function kafkaSample({ subject }: { subject: KafkaSubject }): Promise<KafkaSample> {
  const problem = kafkaProblem()
  if (problem !== undefined) throw new Error(problem)
  const server = await startKafka()
  try {
    return { perMessage: await (subject === 'bare' ? bareUs(server) : workerUs(server)) }
  } finally {
    await server.close()
  }
}

const connection = ({ plain }: KafkaServer) => ({ brokers: [plain] })

async function topics(server: KafkaServer): Promise<void> {
  const about = { prefix: PREFIX, name: 'bench', partitions: PARTITIONS, replicas: 1, pause }
  await createTopics({ connection: connection(server), ...about })
}

async function fill(server: KafkaServer): Promise<void> {
  const producer = new Producer({
    clientId: 'bench',
    bootstrapBrokers: [server.plain],
    serializers: stringSerializers,
    idempotent: true,
    acks: ProduceAcks.ALL,
    partitioner: (_, key) => murmur2(key ?? Buffer.alloc(0)) & 0x7fff_ffff,
  })
  const pad = 'x'.repeat(100)
  for (let sent = 0; sent < MESSAGES; sent += PER_SEND) {
    const messages = Array.from({ length: PER_SEND }, (_, i) => {
      const n = sent + i
      const value = JSON.stringify({ temperature: 20 + (Math.floor(n / RESOURCES) % PER_OUTPUT), n, pad })
      return { topic: `${PREFIX}in`, key: `r${n % RESOURCES}`, value }
    })
    await producer.send({ messages })
  }
  await producer.close()
}

function hot(resource: string): Rule {
  const type = { type: 'HOT', text: 'hot', severity: 'MAJOR' }
  const level = { parameter: 'temperature', threshold: 20 + PER_OUTPUT - 2 }
  const change = { stateFrom: '*', stateTo: 'Above' }
  return {
    sensors: [{ label: 'level', name: 'streamingDataSensor', resource: '$', properties: level }],
    actuators: [{ label: 'alarm', name: 'createAlarm', properties: type }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'alarm', stateChangeTrigger: change }],
    task: { resource, type: 'reactive', resetObservations: false },
  }
}

async function workerUs(server: KafkaServer): Promise<number> {
  await topics(server)
  const about = { connection: connection(server), prefix: PREFIX, name: 'bench', pause }
  const log = await KafkaLog.open({ ...about, group: 'workers', input: 'in' })
  const worker = new Worker({
    log,
    options: { name: 'bench' },
    plugs: (services) => createBuiltins({ services }),
    generate: generatorHere(),
    now: Date.now,
    version: 'bench',
  })
  const tasks = Array.from({ length: RESOURCES }, (_, i) => ({ id: `t${i}`, source: hot(`r${i}`), settings: {} }))
  await log.append(rulesToPublish(tasks, { from: 'bench', now: Date.now(), book: worker.book }))
  while (worker.tasks().length < RESOURCES) await worker.step(50)
  await fill(server)
  const before = process.cpuUsage()
  const until = worker.counts.records + MESSAGES
  while (worker.counts.records < until) {
    const began = Date.now()
    await worker.step(100)
    await pause(Math.max(0, 100 - (Date.now() - began)))
  }
  const { user, system } = process.cpuUsage(before)
  await worker.close()
  await log.close()
  return (user + system) / MESSAGES
}

async function bareUs(server: KafkaServer): Promise<number> {
  await topics(server)
  await fill(server)
  const base = { clientId: 'bare', bootstrapBrokers: [server.plain] }
  const consumer = new Consumer({ ...base, groupId: 'bare', deserializers: stringDeserializers, autocommit: true })
  const settings = { serializers: stringSerializers, idempotent: true, acks: ProduceAcks.ALL }
  const producer = new Producer({ ...base, ...settings })
  const before = process.cpuUsage()
  const stream = await consumer.consume({ topics: [`${PREFIX}in`], mode: 'earliest' })
  let read = 0
  let waiting: { topic: string; key: string; value: string }[] = []
  for await (const { key, value } of stream) {
    JSON.parse(value)
    if (++read % PER_OUTPUT === 0) waiting.push({ topic: `${PREFIX}out.alarms`, key, value })
    if (waiting.length === PER_OUTPUT || read === MESSAGES) {
      await producer.send({ messages: waiting })
      waiting = []
    }
    if (read === MESSAGES) break
  }
  const { user, system } = process.cpuUsage(before)
  await consumer.close(true)
  await producer.close()
  return (user + system) / MESSAGES
}
