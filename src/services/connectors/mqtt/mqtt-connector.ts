/** The connector to brokers of MQTT 3.1.1 and 5. */
import type { SinkDocument, SourceDocument } from '../connector-schema.ts'
import type { Connector, Opening } from '../port.ts'
import { connectTo, ended, plainError, publishingSink, subscribed } from './mqtt-client.ts'
import { openMqttSource } from './mqtt-source.ts'

export const mqttConnector: Connector = {
  openSource: openMqttSource,
  openSink: (opening) =>
    publishingSink(opening, ({ id, topic, value }, { version }) => {
      const properties = { contentType: 'application/json', userProperties: { 'reflexarc-id': id } }
      return [{ topic, payload: JSON.stringify(value), options: { qos: 1, ...(version === 5 && { properties }) } }]
    }),
  test: testConnection,
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
