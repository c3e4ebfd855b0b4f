/** Tests a device that sends its own JSON over MQTT, and raises an alarm through a converter, a template and a rule. */
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { listeningHost, type ListeningHost } from './listening-host.ts'

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost({ mqtt: 0 })
})
afterAll(() => host.stop())

const TEMPLATE = `#set($celsius = $payload.values.temp_dC / 10.0)
{"metrics": [{"resource": "$topic[0]", "temperature": $celsius}]}`

it('a device with its own JSON raises an alarm', async () => {
  const { converter, rules, alarms, broker } = host.client
  await converter.put('boilers', { type: 'velocity', template: TEMPLATE, mqtt: { topic: 'gw/+/up' } })
  await rules.templates.create({
    name: 'too-hot',
    sensors: [
      {
        label: 'hot',
        name: 'streamingDataSensor',
        resource: '$',
        properties: { parameter: 'temperature', threshold: 90 },
      },
    ],
    actuators: [
      {
        label: 'alarm',
        name: 'createAlarm',
        properties: { resource: '$', type: 'TOO_HOT', text: 'too hot', severity: 'MAJOR' },
      },
    ],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
  })
  await rules.tasks.create({ name: 'watch', template: 'too-hot', resource: 'boiler-1' })
  const device = await connectAsync(host.mqtt, { username: 'k', password: 'a-secret', protocolVersion: 5 })
  try {
    await device.publishAsync('gw/boiler-1/up', '{"id":7,"values":{"temp_dC":935}}', { qos: 1 })
    expect(await broker.messages.current('boiler-1')).toMatchObject({ temperature: 93.5 })
    await vi.waitFor(async () => {
      const { alarms: raised } = await alarms.list({ source: 'boiler-1' })
      expect(raised).toMatchObject([{ type: 'TOO_HOT', severity: 'MAJOR', status: 'ACTIVE' }])
    })
    // messages that cannot be converted are acknowledged and stored
    await device.publishAsync('gw/boiler-1/up', '{"id":7}', { qos: 1 })
    await device.publishAsync('gw/boiler-1/up', 'hot!', { qos: 2 })
    const { values } = await converter.rejected.list('boilers')
    expect(values.map(({ topic, payload }) => `${topic} ${payload}`).toSorted()).toEqual([
      'gw/boiler-1/up hot!',
      'gw/boiler-1/up {"id":7}',
    ])
    // a topic that matches no converter is rejected, as before
    await expect(device.publishAsync('other/boiler-1/up', '{}', { qos: 1 })).rejects.toMatchObject({ code: 0x90 })
  } finally {
    await device.endAsync()
  }
})
