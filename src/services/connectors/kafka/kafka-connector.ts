/** The connector to Kafka, and to brokers that speak its protocol. */
import { ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka'
import type { Connector, Opening, SinkConnection } from '../port.ts'
import type { SinkDocument } from '../connector-schema.ts'
import { clientOptions, findTopics, plainError, plainly } from './kafka-options.ts'
import { openKafkaSource } from './kafka-source.ts'

export const kafkaConnector: Connector = {
  openSource: openKafkaSource,
  openSink: openKafkaSink,
  test: async (opening) => {
    const { document } = opening
    const topics = 'topics' in document ? [...document.topics] : document.topic.includes('{') ? [] : [document.topic]
    try {
      return { ok: true, found: [...(await findTopics(opening, topics)).keys()] }
    } catch (error) {
      return { ok: false, problem: plainError(error).message }
    }
  },
}

async function openKafkaSink(opening: Opening<SinkDocument>): Promise<SinkConnection> {
  // fails where the producer would only fail with its first record
  await findTopics(opening, [])
  const producer = new Producer({
    ...clientOptions(opening.connection, opening.clientId),
    idempotent: true,
    acks: ProduceAcks.ALL,
    serializers: stringSerializers,
  })
  producer.on('error', () => undefined)
  let closing: Promise<void> | undefined
  return {
    send: async (records) => {
      if (records.length === 0) return
      const messages = records.map(({ id, topic, resource, time, value }) => {
        const headers = { 'reflexarc-id': id, 'content-type': 'application/json' }
        return { topic, key: resource, value: JSON.stringify(value), timestamp: BigInt(time), headers }
      })
      await plainly(producer.send({ messages }))
    },
    close: () => (closing ??= producer.close().catch(() => undefined)),
  }
}
