/**
 * Kills a whole host with -9 while alarms are raised: each alarm reaches a mailbox and a webhook at least once, all
 * repetitions under the same id, and without kills exactly once.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { crashingHosts } from './host-process.ts'

const KILLS = cases(5)
const ALARMS_BETWEEN = 8

/** by alarm: the ids of what arrived */
type Arrived = Map<string, string[]>
const mails: Arrived = new Map()
const posts: Arrived = new Map()
const hosts = crashingHosts()
let smtp: SMTPServer
let http: Server

function arrived(where: Arrived, alarm: string | undefined, id: string | undefined): void {
  if (alarm !== undefined && id !== undefined) where.set(alarm, [...(where.get(alarm) ?? []), id])
}

beforeAll(async () => {
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => (text += part))
      stream.on('end', () => {
        arrived(mails, /ALARM-\d+-\d+/.exec(text)?.[0], /^Message-ID: <(.*?)@/m.exec(text)?.[1])
        done()
      })
    },
  })
  // a killed host resets its connections
  smtp.on('error', () => {})
  http = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (text += part))
    request.on('end', () => {
      arrived(posts, /ALARM-\d+-\d+/.exec(text)?.[0], request.headers['idempotency-key']?.toString())
      response.end('ok')
    })
  })
  await Promise.all([
    new Promise<void>((resolve) => void smtp.listen(0, '127.0.0.1', resolve)),
    new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve)),
  ])
})
afterAll(async () => {
  await new Promise<void>((resolve) => smtp.close(resolve))
  http.close()
})

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port

function start(name: string) {
  const mail = ['--smtp', `smtp://127.0.0.1:${portOf(smtp.server)}`, '--smtp-from', 'alarms@plant.example']
  return hosts.start(name, [...mail, '--allow-url', `127.0.0.1:${portOf(http)}`])
}

async function configure({ notification }: Client): Promise<void> {
  const channels = [
    { type: 'email', to: ['ann@example.com'] },
    { type: 'webhook', url: `http://127.0.0.1:${portOf(http)}/` },
  ]
  await notification.contacts.put('ann', { channels })
  await notification.policies.put('all', { contacts: ['ann'], onClear: false })
}

const alarmOf = (type: string) => ({ source: { id: 'boiler' }, type, text: 'hot', severity: 'MAJOR' })

async function allDelivered(client: Client, names: readonly string[]): Promise<void> {
  const waiting = async () => (await client.notification.notifications.list({ state: 'waiting' })).notifications.length
  const missing = () => names.filter((name) => !mails.has(name) || !posts.has(name))
  await expect.poll(missing, { timeout: 60_000 }).toEqual([])
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0)
}

it('notifies exactly once without kills', async () => {
  const { client, kill } = await start('calm')
  await configure(client)
  const names = Array.from({ length: 20 }, (_, i) => `ALARM-0-${i}`)
  await Promise.all(names.map((name) => client.alarms.raise(alarmOf(name))))
  await allDelivered(client, names)
  for (const name of names) expect([mails.get(name)?.length, posts.get(name)?.length]).toEqual([1, 1])
  await kill()
})

// Holds NOTIFY-2
it('notifies at least once over kills, under the same id', async () => {
  const raised: string[] = []
  let host = await start('killed')
  await configure(host.client)
  for (let kill = 1; kill <= KILLS; kill++) {
    const { client } = host
    const names = Array.from({ length: ALARMS_BETWEEN }, (_, i) => `ALARM-${kill}-${i}`)
    const raising = names.map(async (name, i) => {
      await client.alarms.raise(alarmOf(name))
      raised.push(name)
      // kills while some are raised, some are sent and some wait
      if (i === kill % ALARMS_BETWEEN) await host.kill()
    })
    await Promise.allSettled(raising)
    host = await start('killed')
  }
  await allDelivered(host.client, raised)
  for (const name of raised) {
    expect(new Set(mails.get(name)).size, name).toBe(1)
    expect(new Set(posts.get(name)).size, name).toBe(1)
  }
  await host.kill()
})
