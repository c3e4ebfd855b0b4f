import { describe, expect, it } from 'vitest'
import { KeyChanges } from '../../../src/host/auth/key-changes.ts'
import { OpenStreams, type StreamCaller } from '../../../src/host/auth/open-streams.ts'
import { until } from '../../support/until.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { HandTimers } from '../hand-timers.ts'
import { wholeHost } from '../whole-host.ts'

function world() {
  const clock = { now: 1_000 }
  const timers = new HandTimers()
  const changes = new KeyChanges({}, { elapsed: () => timers.elapsed(), isMember: false })
  const streams = new OpenStreams({ changes, timers, now: () => clock.now })
  const ended: string[] = []
  const caller = (user: string, again: StreamCaller['again'], ends?: number): StreamCaller => ({
    tenant: 't',
    user,
    ...(again && { again }),
    ...(ends !== undefined && { ends }),
  })
  const open = (one: StreamCaller) => streams.add(one, () => ended.push(one.user))
  return { clock, timers, changes, ended, caller, open }
}

const valid = (ends?: number) => async () =>
  ({ tenant: 't', user: '', rights: { scopes: [] }, until: 0, ...(ends !== undefined && { ends }) }) as const

describe('streams', () => {
  it('end within a second after their credentials expire', () => {
    const { clock, timers, ended, caller, open } = world()
    open(caller('brief', valid(), 2_000))
    open(caller('lasting', valid()))
    timers.advance(1_000)
    expect(ended).toEqual([])
    clock.now = 2_000
    timers.advance(500)
    expect(ended).toEqual(['brief'])
  })

  it('end when a change shows that the credentials are revoked, and get the time of a grace', async () => {
    const { clock, timers, changes, ended, caller, open } = world()
    let isRevoked = false
    open(caller('gone', async () => (isRevoked ? undefined : valid()())))
    open(caller('rotated', valid(5_000)))
    open(caller('token', undefined, 6_000))
    isRevoked = true
    await changes.announce()
    await until(() => ended.length > 0)
    expect(ended).toEqual(['gone'])
    clock.now = 5_000
    timers.advance(500)
    expect(ended).toEqual(['gone', 'rotated'])
    clock.now = 6_000
    timers.advance(500)
    expect(ended).toEqual(['gone', 'rotated', 'token'])
  })

  it('are checked again later when the store cannot be read at a change', async () => {
    const { timers, changes, ended, caller, open } = world()
    let isAway = true
    open(
      caller('k', async () => {
        if (isAway) throw new Error('away')
        return undefined
      }),
    )
    await changes.announce()
    await until(() => true)
    expect(ended).toEqual([])
    isAway = false
    timers.advance(500)
    await until(() => ended.length > 0)
    expect(ended).toEqual(['k'])
  })

  it('that were closed before are forgotten', async () => {
    const { changes, ended, caller, open } = world()
    let checks = 0
    const close = open(caller('k', async () => void checks++))
    close()
    await changes.announce()
    expect([checks, ended]).toEqual([0, []])
  })
})

it('a stream that a token opened ends within a second after the token', async () => {
  const timers = new HandTimers()
  const clock = { now: Date.UTC(2026, 10, 30) }
  await using host = await wholeHost({}, { now: () => clock.now, timers, openStorage: async () => openMemory() })
  const token = await host.tokens.issue({ tenant: 'acme', subject: 'anna', lifetime: 600 })
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  const answer = await host.app.inject({ url: '/resources/r/events', headers, payloadAsStream: true })
  expect(answer.statusCode).toBe(200)
  const ended = new Promise((resolve) => answer.stream().once('close', resolve).resume())
  clock.now += 600_000
  timers.advance(1_000)
  await ended
})
