import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alarmForwarding, alarmPort, causeReader } from '../../../src/host/wiring/alarms.ts'
import type { AlarmPort } from '../../../src/plug.ts'
import type { InternalRules } from '../../../src/services/rules/contract.ts'
import { alarmOf, bench, type Bench } from '../../services/alarms/support/bench-of-alarms.ts'

const cause = { task: 't', node: 'n', effect: 't/1/1/0', hops: 1 }

let alarms: Bench
let port: AlarmPort
beforeEach(async () => {
  alarms = await bench()
  port = alarmPort('acme', () => alarms.service)
})
afterEach(() => alarms.close())

describe('the port of alarms', () => {
  it('raises for the engine, and returns the alarm without its history', async () => {
    const properties = { autoClearAfter: 'PT1H', floor: 2, source: 'not this' }
    const raised = await port.raise({ source: 'r', type: 'HEAT', text: 'hot', severity: 'minor', properties }, cause)
    expect(raised).toMatchObject({
      source: { id: 'r' },
      severity: 'MINOR',
      autoClearAfter: 'PT1H',
      additionalProperties: { floor: 2 },
    })
    expect(raised).not.toHaveProperty('history')
    expect(await alarms.api.why(String(raised['id']))).toMatchObject({ raisedBy: 'system/engine', cause })
  })

  it('clears what is open of a source and type, each once, and nothing else', async () => {
    const raise = (more: object) => alarms.api.raise(alarmOf({ source: { id: 'r' }, ...more }))
    const [one, two] = [await raise({}), await raise({ dedupKey: 'k', status: 'ACKNOWLEDGED' })]
    const others = [await raise({ type: 'COLD' }), await raise({ source: { id: 'other' } })]
    const cleared = await port.clear('r', 'HEAT', cause)
    expect(new Set(cleared.map(({ id }) => id))).toEqual(new Set([one.id, two.id]))
    for (const { id } of others) expect(await alarms.api.get(id)).toMatchObject({ status: 'ACTIVE' })
    expect(await port.clear('r', 'HEAT', { ...cause, effect: 'next' })).toEqual([])
  })

  it('returns the newest alarm of a source by its timestamp', async () => {
    await alarms.api.raise(alarmOf({ type: 'NEW', timestamp: 2000 }))
    await alarms.api.raise(alarmOf({ type: 'OLD', timestamp: 1000 }))
    expect(await port.latest('boiler-1')).toMatchObject({ type: 'NEW' })
    expect(await port.latest('nobody')).toBeUndefined()
  })

  it('finds by filters, with histories where they are requested', async () => {
    await alarms.api.raise(alarmOf())
    await alarms.api.raise(alarmOf({ type: 'COLD' }))
    expect(await port.find({ type: ['COLD', 'ICE'], status: ['ACTIVE'] })).toMatchObject({
      total: 1,
      alarms: [{ type: 'COLD' }],
    })
    const { alarms: found } = await port.find({ source: 'boiler-1', history: true })
    expect(found).toMatchObject([{ history: [{}] }, { history: [{}] }])
  })

  it('changes an alarm', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    expect(await port.update(id, { severity: 'CRITICAL' }, cause)).toMatchObject({ severity: 'CRITICAL' })
  })

  it('reports that no service of alarms exists', async () => {
    await expect(alarmPort('acme', () => undefined).latest('r')).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('the engine as alarms see it', () => {
  it('takes their events on a channel of their own', async () => {
    const given: unknown[] = []
    const engine = alarmForwarding({ receive: async (...all) => void given.push(all) })
    await engine.receive({ resource: 'r' }, { writes: [], hops: 3 })
    expect(given).toEqual([[[{ messages: { resource: 'r' }, hops: 3, channel: 'alarm' }], []]])
  })
})

describe('the record of causes', () => {
  it('is what the rules explain of the node', async () => {
    const explain = async (...asked: unknown[]) => ({ asked })
    const rules = { as: (caller: object) => ({ caller, inspection: { explain } }) } as unknown as InternalRules
    expect(await causeReader('acme', () => rules).explain(cause)).toEqual({ asked: ['t', 'n'] })
    expect(await causeReader('acme', () => undefined).explain(cause)).toBeNull()
  })
})
