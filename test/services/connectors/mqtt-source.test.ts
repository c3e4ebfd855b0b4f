/** Tests the source of MQTT against a scripted broker. */
import { createServer, type AddressInfo } from 'node:net'
import { parser as newParser, type Packet, writeToStream } from 'mqtt-packet'
import { expect, it } from 'vitest'
import { openMqttSource } from '../../../src/services/connectors/mqtt/mqtt-source.ts'

/** More than a source reads ahead. */
const WAITING = 1_500

// Holds PORT-2
it('opens though the broker sends what waits in the session before it answers the subscription', async () => {
  const broker = createServer((socket) => {
    const send = (packet: Packet): void => void writeToStream(packet, socket, { protocolVersion: 5 })
    const parser = newParser({ protocolVersion: 5 })
    parser.on('packet', (packet) => {
      if (packet.cmd === 'connect') send({ cmd: 'connack', sessionPresent: true, reasonCode: 0 })
      if (packet.cmd !== 'subscribe') return
      for (let messageId = 1; messageId <= WAITING; messageId++) {
        const payload = Buffer.from(`{"n":${messageId}}`)
        send({ cmd: 'publish', topic: 'a', payload, qos: 1, messageId, retain: false, dup: false })
      }
      send({ cmd: 'suback', messageId: packet.messageId ?? 0, granted: [1] })
    })
    socket.on('data', (bytes) => void parser.parse(bytes)).on('error', () => undefined)
  })
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve))
  const { port } = broker.address() as AddressInfo
  const connection = { url: `mqtt://127.0.0.1:${port}` }
  const source = await openMqttSource({
    document: { type: 'mqtt', connection, topics: ['a'] },
    connection,
    clientId: 'test',
    signal: new AbortController().signal,
    position: {},
    report: () => undefined,
  })
  let count = 0
  while (count < WAITING) count += (await source.next())?.length ?? 0
  expect(count).toBe(WAITING)
  await source.close()
  broker.close()
})
