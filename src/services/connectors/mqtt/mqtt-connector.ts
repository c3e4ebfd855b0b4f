/** The connector to brokers of MQTT 3.1.1 and 5. */
import type { SinkDocument, SourceDocument } from '../connector-schema.ts'
import type { Connector, Opening, SinkConnection } from '../port.ts'
import { connectTo, ended, plainError, Publisher, subscribed } from './mqtt-client.ts'
import { openMqttSource } from './mqtt-source.ts'

export const mqttConnector: Connector = {
  openSource: openMqttSource,
  openSink: openMqttSink,
  test: testConnection,
}

async function openMqttSink(opening: Opening<SinkDocument>): Promise<SinkConnection> {
  const connected = await connectTo(opening, { clean: true })
  const publisher = new Publisher(connected)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= ended(connected))
  opening.signal.addEventListener('abort', () => void close(), { once: true })
  return {
    send: (records) =>
      publisher.publish(
        records.map(({ id, topic, value }) => {
          const properties = { contentType: 'application/json', userProperties: { 'reflexarc-id': id } }
          const options = { qos: 1, ...(connected.version === 5 && { properties }) } as const
          return { topic, payload: JSON.stringify(value), options }
        }),
      ),
    close,
  }
}

/** Uses a client id of its own, so that it does not take over the running connection. */
export async function testConnection(opening: Opening<SourceDocument | SinkDocument>) {
  const { document, connection, clientId } = opening
  const { clientId: own = clientId, ...rest } = connection
  try {
    const connected = await connectTo({ ...opening, connection: rest, clientId: `${own}-test` }, { clean: true })
    try {
      const found = 'topics' in document ? document.topics : []
      if (found.length > 0) await subscribed(connected, found)
      return { ok: true, found: [...found] }
    } finally {
      await ended(connected)
    }
  } catch (error) {
    return { ok: false, problem: plainError(error).message }
  }
}
