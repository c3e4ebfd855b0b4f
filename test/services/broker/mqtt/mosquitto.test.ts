/** Tests the MQTT listener with independent clients: Debian's command line tools, if installed. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { openMqtt, type MqttListener } from '../../../../src/services/broker/mqtt/listener.ts'
import { describeWithMosquitto } from '../../../support/mosquitto.ts'
import { FakeBroker } from './support/fake-broker.ts'

const run = promisify(execFile)

let door: MqttListener | undefined
afterEach(() => door?.close())

async function open(broker: FakeBroker): Promise<readonly string[]> {
  door = await openMqtt({
    api: (caller) => broker.api(caller),
    authenticate: async (key, secret) => (secret === 'good' ? { tenant: 't', user: key } : undefined),
    host: '127.0.0.1',
    port: 0,
    newId: () => 'given',
  })
  return ['-h', '127.0.0.1', '-p', String(door.port), '-u', 'k', '-P', 'good']
}

describeWithMosquitto('the clients of mosquitto', () => {
  describe.each(['mqttv31', 'mqttv311', 'mqttv5'])('by %s', (version) => {
    it.each(['0', '1', '2'])('post with QoS %s', async (qos) => {
      const broker = new FakeBroker()
      const common = await open(broker)
      await run('mosquitto_pub', [...common, '-V', version, '-q', qos, '-t', 'resources/r/events', '-m', '{"t":1}'])
      await expect.poll(() => broker.posts).toHaveLength(1)
      expect(broker.posts[0]).toEqual({ tenant: 't', channel: 'events', resource: 'r', body: { t: 1 } })
    })

    it('listen', async () => {
      const broker = new FakeBroker()
      const common = await open(broker)
      const topics = ['-t', 'resources/+/events', '-q', '1', '-C', '1', '-v', '-W', '20']
      const heard = run('mosquitto_sub', [...common, '-V', version, ...topics])
      await expect.poll(() => broker.feed.readers).toBe(1)
      broker.tell('t', 'r', 'events', { timestamp: 1, t: 5 })
      expect((await heard).stdout).toBe('resources/r/events {"timestamp":1,"t":5,"resource":"r"}\n')
    })

    it('are notified that their credentials are wrong', async () => {
      const broker = new FakeBroker()
      const common = (await open(broker)).map((each) => (each === 'good' ? 'bad' : each))
      const told = run('mosquitto_pub', [...common, '-V', version, '-t', 'resources/r/events', '-m', '{}'])
      await expect(told).rejects.toThrow(/Connection Refused|Connection error/i)
    })
  })
})
