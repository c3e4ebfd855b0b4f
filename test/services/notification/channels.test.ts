/** Channels: bodies of known receivers, mail over a real SMTP server, failures, deadlines, and links that acknowledge. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContactConfiguration } from '../../../src/services/notification/contact-schema.ts'
import { linkPages } from '../../../src/services/notification/link-pages.ts'
import { mailSender } from '../../../src/services/notification/mail-sender.ts'
import { filled, messageOf } from '../../../src/services/notification/message.ts'
import { LinkSigner, tenantOfLink } from '../../../src/services/notification/signed-link.ts'
import { root } from '../../support/repository.ts'
import { ALARM, CALLER, notificationBench, type NotificationBench } from './support.ts'

const DAY = 86_400_000
const FIXTURES = join(root, 'fixtures/notification')

describe('bodies of webhooks', () => {
  it.each(readdirSync(FIXTURES))('fit the receiver of %s', (file) => {
    const { channel, expected } = JSON.parse(readFileSync(join(FIXTURES, file), 'utf8')) as {
      channel: { body: object }
      expected: unknown
    }
    expect(() => ContactConfiguration.read({ channels: [channel] })).not.toThrow()
    const alarm = {
      id: 'a1',
      type: 'HOT',
      text: '93 degrees & "rising"',
      severity: 'CRITICAL',
      source: 'boiler-1',
      timestamp: '2026-11-23T12:00:00.000Z',
    }
    const record = { policy: 'duty', contact: 'ann', kind: 'raised', alarms: [alarm], total: 1 } as const
    const rest = { channel: 0, type: 'webhook', state: 'waiting', attempts: 0, createTime: 0 } as const
    const message = messageOf('n1', { ...record, ...rest }, 'https://iot.example.com/alarm/links/t')
    expect(filled(channel.body as never, message)).toEqual(expected)
  })
})

describe('mail', () => {
  it('reaches a server, with its id, and without headers of the alarm', async () => {
    const mails: string[] = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: (stream, session, done) => {
        let text = ''
        stream.setEncoding('utf8')
        stream.on('data', (part: string) => (text += part))
        stream.on('end', () => {
          mails.push(`${session.envelope.rcptTo.map(({ address }) => address).join(',')}\n${text}`)
          done()
        })
      },
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('no') ? new Error('no such mailbox') : null),
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.server.address() as { port: number }
    try {
      const send = mailSender({ url: `smtp://127.0.0.1:${port}`, from: 'alarms@plant.example' })
      const { signal } = new AbortController()
      const mail = { id: 'n1', subject: 'HOT\r\nBcc: all@example.com', text: 'Überdruck\n' }
      expect(await send({ ...mail, to: ['ann@example.com', 'bob@example.com'] }, signal)).toMatch(/^250 /)
      expect(mails).toHaveLength(1)
      expect(mails[0]).toMatch(/^ann@example.com,bob@example.com\n/)
      expect(mails[0]).toContain('Message-ID: <n1@plant.example>')
      expect(mails[0]).toContain('X-Reflexarc-Notification: n1')
      expect(mails[0]).not.toMatch(/^Bcc:/m)
      await expect(send({ ...mail, to: ['nobody@example.com'] }, signal)).rejects.toThrow(/no such mailbox/)
    } finally {
      await new Promise<void>((resolve) => server.close(resolve))
    }
  })
})

describe('deliveries', () => {
  let bench: NotificationBench
  beforeEach(async () => {
    bench = await notificationBench()
    await bench.api.contacts.put('ann', { channels: [{ type: 'email', to: ['ann@example.com'] }] })
    await bench.api.contacts.put('hook', { channels: [{ type: 'webhook', url: 'https://hook.example/a' }] })
    await bench.api.policies.put('all', { contacts: ['ann', 'hook'], onClear: false })
  })
  afterEach(() => bench.stop())
  const listed = async () => (await bench.api.notifications.list()).notifications

  // Holds NOTIFY-2
  it('are repeated under the same id, with backoff, until the receiver accepts', async () => {
    const tried: string[] = []
    bench.hook = ({ over, id }) => {
      if (over !== 'post') return
      tried.push(id)
      if (tried.length < 4) throw new Error('refused')
    }
    await bench.raise.raise(ALARM)
    await bench.advance(1_000)
    expect(await listed()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ contact: 'hook', state: 'waiting', attempts: 1, lastError: 'refused' }),
        expect.objectContaining({ contact: 'ann', state: 'delivered', attempts: 1 }),
      ]) as unknown,
    )
    await bench.restart()
    await bench.advance(60_000)
    expect(tried).toHaveLength(4)
    expect(new Set(tried).size).toBe(1)
    expect(await listed()).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
    await bench.advance(300_000)
    expect(tried).toHaveLength(4)
  })

  it('fail after twelve attempts', async () => {
    bench.hook = ({ over }) => {
      if (over === 'post') throw new Error('refused')
    }
    await bench.raise.raise(ALARM)
    await bench.advance(2 * 3_600_000)
    expect(await bench.api.notifications.list({ state: 'failed' })).toMatchObject({
      notifications: [{ contact: 'hook', attempts: 12, lastError: 'refused' }],
    })
    expect(bench.service.gauges()).toMatchObject({ waiting: 0, delivered: 1, failed: 1 })
  })

  // Holds NOTIFY-3
  it('of a channel that hangs delay no other channel, and end at a deadline', async () => {
    const hung: AbortSignal[] = []
    bench.patience = 60
    bench.hook = ({ over }, signal) => {
      if (over !== 'post') return undefined
      hung.push(signal)
      return new Promise<void>(() => undefined)
    }
    for (let i = 0; i < 3; i++) await bench.raise.raise({ ...ALARM, type: `T${i}` })
    await bench.advance(1_000)
    expect(bench.sent.map(({ over }) => over)).toEqual(['mail', 'mail', 'mail'])
    expect(hung).toHaveLength(1)
    await bench.advance(20_000)
    expect(hung[0]?.aborted).toBe(true)
    expect((await listed()).find(({ lastError }) => lastError !== undefined)?.lastError).toBe(
      'did not respond within 20 s',
    )
  })

  it('are tested by hand, each channel on its own', async () => {
    bench.hook = ({ over }) => {
      if (over === 'post') throw new Error('refused')
    }
    const channels = [
      { type: 'email', to: ['ann@example.com'] },
      { type: 'webhook', url: 'https://hook.example/a' },
      { type: 'mqtt', url: 'mqtt://broker.example', topic: 'alarms/{{{alarm.type}}}' },
      { type: 'webhook', url: { vault: 'NONE' } },
    ]
    await bench.api.contacts.put('all', { channels })
    expect(await bench.api.contacts.test('all')).toEqual({
      channels: [
        { type: 'email', ok: true, receipt: '250 accepted' },
        { type: 'webhook', ok: false, problem: 'refused' },
        { type: 'mqtt', ok: true, receipt: 'published to alarms/TEST' },
        { type: 'webhook', ok: false, problem: 'the vault has no secret "NONE"' },
      ],
    })
    expect((await listed()).length).toBe(0)
  })
})

describe('links', () => {
  let bench: NotificationBench
  beforeEach(async () => {
    bench = await notificationBench()
    await bench.api.contacts.put('ann', { channels: [{ type: 'email', to: ['ann@example.com'] }] })
    await bench.api.policies.put('all', { contacts: ['ann'] })
  })
  afterEach(() => bench.stop())

  async function linkOf(): Promise<{ readonly token: string; readonly alarm: string }> {
    const { id } = await bench.raise.raise(ALARM)
    await bench.advance(200)
    const [, token = ''] = /alarm\/links\/(\S+)/.exec(bench.sent.at(-1)?.content ?? '') ?? []
    return { token, alarm: id }
  }
  const statusOf = async (id: string) => (await bench.alarms.as(CALLER).get(id)).status

  // Holds NOTIFY-4
  it('acknowledge once, by a POST only', async () => {
    const { token, alarm } = await linkOf()
    const app = fastify()
    await linkPages(app, (one) => (one.startsWith(token.slice(0, 10)) ? bench.service : undefined))
    const url = `/alarm/links/${token}`
    const page = await app.inject({ url })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('<form method="post"><button>Acknowledge</button></form>')
    expect(page.body).toContain('MAJOR HOT at boiler-1: 93 degrees')
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'") as unknown,
    })
    expect(await statusOf(alarm)).toBe('ACTIVE')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const done = await app.inject({ method: 'POST', url, headers, payload: '' })
    expect([done.statusCode, done.body.includes('<form')]).toEqual([200, false])
    const acknowledged = await bench.alarms.as(CALLER).get(alarm)
    expect(acknowledged.status).toBe('ACKNOWLEDGED')
    expect(acknowledged.history.at(-1)).toMatchObject({ user: 'contact/ann' })
    expect((await app.inject({ method: 'POST', url })).statusCode).toBe(409)
    expect((await app.inject({ url })).body).toContain('Already used')
    expect((await app.inject({ url: '/alarm/links/x' })).statusCode).toBe(404)
    expect((await bench.api.notifications.list()).notifications[0]?.acknowledgedTime).toBeDefined()
    await app.close()
  })

  it('say that an alarm is cleared, and acknowledge nothing', async () => {
    const { token, alarm } = await linkOf()
    await bench.raise.update(alarm, { status: 'CLEARED' })
    expect(await bench.service.linked(token)).toMatchObject({ state: 'cleared' })
    expect(await bench.service.useLink(token)).toMatchObject({ state: 'cleared' })
  })

  it('expire after three days', async () => {
    const { token, alarm } = await linkOf()
    bench.clock.now += 3 * DAY + 1_000
    expect(await bench.service.useLink(token)).toMatchObject({ state: 'expired' })
    expect(await statusOf(alarm)).toBe('ACTIVE')
  })

  it('are worth nothing when they were changed, or signed for another tenant', async () => {
    const { token } = await linkOf()
    const [content = '', sum = ''] = token.split('.')
    const other = new LinkSigner(new Uint8Array(32)).sign({ tenant: 'umbrella', notification: 'n1', until: 1e15 })
    const forged = Buffer.from(JSON.stringify(['acme', 'n1', 9e15])).toString('base64url')
    for (const wrong of ['', '.', content, `${content}.`, `${forged}.${sum}`, `${token}.x`, other, 'x'.repeat(5_000)]) {
      expect(await bench.service.useLink(wrong)).toEqual({ state: 'invalid' })
    }
    expect(tenantOfLink(`/alarm/links/${token}`)).toBe('acme')
    expect(tenantOfLink('/alarm/links/bm90IGpzb24.x')).toBeUndefined()
  })
})

it('holds back notifications of suppressed alarms, and sends them when the alarm is announced', async () => {
  const bench = await notificationBench()
  await bench.api.contacts.put('ann', { channels: [{ type: 'email', to: ['ann@example.com'] }] })
  await bench.api.policies.put('all', { contacts: ['ann'], after: 'PT1M' })
  const { id } = await bench.raise.raise(ALARM)
  await bench.advance(200)
  await bench.alarms.suppress({ ids: [id] }, { suppression: 'suppressed', by: 'window/x' })
  await bench.advance(600_000)
  expect(bench.sent).toEqual([])
  await bench.alarms.release('window/x')
  await bench.advance(1_000)
  expect(bench.sent).toHaveLength(1)
  await bench.stop()
})
