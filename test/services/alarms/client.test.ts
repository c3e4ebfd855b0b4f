import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/client.ts'
import type { AlarmsApi } from '../../../src/services/alarms/contract.ts'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'

/** Each test must pass both in process and over HTTP. */
const WAYS = ['in process', 'over HTTP'] as const

describe.each(WAYS)('the alarms service, %s', (way) => {
  let alarms: Bench
  let api: AlarmsApi
  beforeEach(async () => {
    alarms = await bench()
    if (way === 'in process') api = alarms.api
    else {
      await alarms.app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = alarms.app.server.address() as AddressInfo
      api = createClient({ url: `http://127.0.0.1:${port}` }).alarms
    }
  })
  afterEach(() => alarms.close())

  it('follows an alarm from its raising to its deletion', async () => {
    const { id } = await api.raise(alarmOf({ task: 7 }))
    expect(await api.raise(alarmOf())).toMatchObject({ id, count: 2 })
    expect(await api.list({ task: 7, status: ['ACTIVE'], size: 5 })).toMatchObject({
      total: 1,
      page: 1,
      size: 5,
      alarms: [{ id }],
    })
    expect(await api.update(id, { status: 'CLEARED' })).toMatchObject({ status: 'CLEARED' })
    expect(await api.timeline({ source: 'boiler-1' })).toHaveLength(3)
    expect(await api.why(id)).toMatchObject({ alarm: id, cause: null })
    expect(await api.get(id)).toMatchObject({ id, count: 2 })
    const batch = await api.batches.queue({ entity: 'alarm', action: 'delete', query: { ids: [id] } })
    await alarms.service.idle()
    expect(await api.batches.get(batch.id)).toMatchObject({ results: { success: { [id]: { statusCode: 204 } } } })
    await expect(api.remove(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('reads the newest part of a long history when that is enough', async () => {
    for (let i = 0; i < 40; i++) await api.raise(alarmOf(), { history: 'newest' })
    expect((await api.raise(alarmOf(), { history: 'newest' })).history).toHaveLength(9)
    expect((await api.raise(alarmOf())).history).toHaveLength(42)
  })

  it('rejects with the same texts as the service', async () => {
    const { id } = await api.raise(alarmOf({ status: 'CLEARED' }))
    await expect(api.update(id, { status: 'ACTIVE' })).rejects.toMatchObject({
      code: 'FINAL',
      status: 412,
      message: 'Alarm is in final state',
    })
    await expect(api.raise({})).rejects.toMatchObject({
      code: 'VALIDATION',
      issues: ['/type', '/text', '/severity', '/source'].map((path) => ({
        path,
        message: 'is required',
        severity: 'ERROR',
      })),
    })
  })

  it('streams the events after a known event, and continues', async () => {
    const gone = new AbortController()
    await api.raise(alarmOf())
    await api.raise(alarmOf())
    const events = api.events({ signal: gone.signal, after: '1' })[Symbol.asyncIterator]()
    const first = (await events.next()) as { value: { id: string; text: string } }
    expect([first.value.id, JSON.parse(first.value.text)]).toMatchObject(['2', { alarm: { count: 2 } }])
    const next = events.next() as Promise<{ value: { id: string } }>
    await api.raise(alarmOf())
    expect((await next).value.id).toBe('3')
    gone.abort()
    expect(await events.next()).toMatchObject({ done: true })
  })
})
