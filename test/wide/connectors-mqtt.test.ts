/** The connectors to MQTT and Sparkplug with a real Mosquitto, through kill -9 of broker and host. */
import { connectAsync } from 'mqtt'
import { mqttConnector } from '../../src/services/connectors/mqtt/mqtt-connector.ts'
import { portSuite, type TestBroker } from '../services/connectors/port-suite.ts'
import { describeWithBroker, startMosquitto } from '../support/mosquitto-broker.ts'

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
})
