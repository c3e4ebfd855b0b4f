import { Admin, Consumer, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { it } from 'vitest'
import { kafkaConnector } from '../../src/services/connectors/kafka/kafka-connector.ts'
import { portSuite, type TestBroker } from '../services/connectors/port-suite.ts'
import { kafkaProblem, startKafka } from '../support/kafka.ts'

const problem = kafkaProblem()
// oxlint-disable-next-line vitest/expect-expect -- it only says why the others are left out
if (problem !== undefined) it('needs Kafka', ({ skip }) => skip(problem))
else portSuite('kafka', openKafka, 60_000)

async function openKafka(): Promise<TestBroker> {
  const server = await startKafka()
  const client = { clientId: 'tests', bootstrapBrokers: [server.plain] }
  const admin = new Admin(client)
  const producer = new Producer({ ...client, serializers: stringSerializers })
  return {
    type: 'kafka',
    connector: kafkaConnector,
    connection: { brokers: [server.plain] },
    unreachable: { brokers: ['127.0.0.1:1'] },
    hasPositions: true,
    create: async (topic) => void (await admin.createTopics({ topics: [topic], partitions: 3, replicas: 1 })),
    publish: async (topic, records) => {
      await producer.send({ messages: records.map(({ key, value }) => ({ topic, key, value })) })
    },
    received: async (topic, count) => {
      const consumer = new Consumer({ ...client, groupId: `read-${topic}`, deserializers: stringDeserializers })
      const stream = await consumer.consume({ topics: [topic], mode: 'earliest' })
      const values: string[] = []
      for await (const { value } of stream) if (values.push(value) === count) break
      await consumer.close(true)
      return values
    },
    close: async () => {
      await producer.close()
      await admin.close()
      await server.close()
    },
  }
}
