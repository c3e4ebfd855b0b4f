/** Kills a host with -9 while commands are posted for a device that sleeps and wakes. */
import { expect, it } from 'vitest'
import { cases } from '../support/arbitraries/runs.ts'
import { freePort } from '../support/free-port.ts'
import { crashingHosts } from './host-process.ts'
import { device } from './mqtt-device.ts'

const crashing = crashingHosts()
const COMMANDS = 'resources/d-1/commands'

// Holds MQTTSESSION-1, MQTT-7
it('a device that sleeps and wakes receives each acknowledged command, whenever its host is killed', async () => {
  const port = await freePort()
  const pair = { key: 'k', secret: 's' }
  const posted: string[] = []
  const received: unknown[] = []
  for (let life = 0; life < Math.max(2, cases(5)); life++) {
    const host = await crashing.start('', ['--mqtt', String(port)])
    const url = `mqtt://127.0.0.1:${port}`
    const { client, names } = await device(url, pair)
    if (life === 0) await client.subscribeAsync(COMMANDS, { qos: 1 })
    // a device that woke has everything that it missed
    await expect.poll(() => new Set([...received, ...names]).size).toBe(posted.length)
    if (life % 2 === 1) await client.endAsync()
    for (let n = 0; n < 20; n++) {
      const name = `${life}-${n}`
      await host.client.broker.posting.command('d-1', { name })
      posted.push(name)
    }
    await host.kill()
    await client.endAsync(true)
    received.push(...names)
  }
  const host = await crashing.start('', ['--mqtt', String(port)])
  const last = await device(`mqtt://127.0.0.1:${port}`, pair)
  await expect.poll(() => new Set([...received, ...last.names]).size).toBe(posted.length)
  received.push(...last.names)
  await last.client.endAsync()
  // repeated ones apart, they come in the order of their posts
  expect([...new Set(received)]).toEqual(posted)
  await host.kill()
})
