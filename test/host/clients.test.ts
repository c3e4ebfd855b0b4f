/** Tests common clients against one host: EventSource, WebSocket, MQTT and fetch receive the same message. */
import { EventSource } from 'eventsource'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basic } from './sample-host.ts'
import { ANY_TIME } from '../support/any-time.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost({ mqtt: 0, ...ANY_TIME })
})
afterAll(() => host.stop())

const authorization = basic('k', 'a-secret')

it('a message that one of them sends is received by all', async () => {
  const path = '/resources/boiler-1/events'
  const source = new EventSource(host.url + path, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization } }),
  })
  const socket = new WebSocket(`${host.url.replace('http', 'ws')}${path}/subscribe?apiKey=k&apiSecret=a-secret`)
  // listen at once: both may open before the device connects
  const opened = [source, socket].map((one) => new Promise((resolve) => one.addEventListener('open', resolve)))
  const device = await connectAsync(host.mqtt, { username: 'k', password: 'a-secret', protocolVersion: 5 })
  try {
    const heard = [
      new Promise<string>((resolve) => source.addEventListener('message', ({ data }) => resolve(String(data)))),
      new Promise<string>((resolve) => socket.addEventListener('message', ({ data }) => resolve(String(data)))),
      new Promise<string>((resolve) => device.on('message', (_topic, payload) => resolve(payload.toString()))),
    ]
    await Promise.all([...opened, device.subscribeAsync('resources/boiler-1/events', { qos: 1 })])
    await device.publishAsync('resources/boiler-1/events', '{"temperature":93,"timestamp":1000}', { qos: 1 })
    for (const text of await Promise.all(heard)) {
      expect(JSON.parse(text)).toMatchObject({ temperature: 93, timestamp: 1000 })
    }
    const current = await fetch(`${host.url}/resources/boiler-1/current`, { headers: { authorization } })
    expect(await current.json()).toMatchObject({ temperature: 93, timestamp: 1000 })
  } finally {
    source.close()
    socket.close()
    await device.endAsync()
  }
})
