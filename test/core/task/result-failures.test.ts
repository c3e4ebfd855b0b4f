import { describe, expect, it } from 'vitest'
import { CallError } from '../../../src/core/plug/call-error.ts'
import type { Sensor } from '../../../src/core/rule/rule.ts'
import { line, live, type Live } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER, type Said } from '../../support/scripted-plugs.ts'

function watched(more: Partial<Sensor>, ...said: readonly Said[]): Promise<Live> {
  const triggers = [trigger('s', 'ran'), trigger('s', 'lit', is('On'))]
  return live(rule({ sensors: { s: { ...on('switch'), ...more } }, actuators: ['ran', 'lit'], triggers }), {
    script: (plugs) => plugs.say('s', ...said),
  })
}

const outcome = (t: Live) => t.lines('result', 'state', 'fired').filter((text) => !/result (ran|lit)/.test(text))
const callTimes = (t: Live) => t.plugs.callsOf('s').map(({ now }) => now)
const broken = new Error('broken')

/** Events of `s`, each with the clock. */
function outcomeAt(t: Live): string[] {
  const ofSensor = t.events.filter((event) => event.type === 'result' && event.node === 's')
  return ofSensor.map((event) => `${line(event)} at ${event.at ?? event.time}`)
}

/** Times of the calls of `s` until `end`, on the clock; a call sees the time of its input. */
function calledAt(t: Live, end: number): number[] {
  const times = t.plugs.callsOf('s').map(() => t.clock.now())
  for (let next = t.clock.nextAt(); next !== undefined && next <= end; next = t.clock.nextAt()) {
    t.to(next)
    while (times.length < t.plugs.callsOf('s').length) times.push(next)
  }
  t.to(end)
  return times
}

describe('retries', () => {
  it('follow backoffs that double up to the maximum', async () => {
    const retryConfig = { maxRetries: 5, minBackoff: 'PT1S', maxBackoff: 'PT5S' }
    const t = await watched({ retryConfig }, broken)
    t.send({})
    expect(calledAt(t, 60_000)).toEqual([0, 1000, 3000, 7000, 12_000, 17_000])
    expect(outcomeAt(t)).toEqual(['0 result s failed: broken at 17000'])
    expect(outcome(t)).toEqual(['0 result s failed: broken'])
  })

  it('end with the first success, which does not count as an error', async () => {
    const t = await watched({ retryConfig: { maxRetries: 3 } }, broken, broken, 'On')
    t.send({})
    t.to(60_000)
    expect(outcome(t)).toEqual(['0 result s On', '0 state s ?>On', '0 fired s>ran', '0 fired s>lit'])
    expect(outcomeAt(t)).toEqual(['0 result s On at 3000'])
    expect(t.task.info().health.errorsCount).toBe(0)
    const log = t.events.filter(({ type }) => type === 'log')
    expect(log.map((event) => `${line(event)} at ${event.at ?? event.time}`)).toEqual([
      '0 log WARN broken; attempt 2 of 4 in 1000 ms at 0',
      '0 log WARN broken; attempt 3 of 4 in 2000 ms at 1000',
    ])
  })
})

describe('an error of a plug', () => {
  const retryConfig = { maxRetries: 3, maxBackoff: 'PT5S' }

  it('ends retries when it is final', async () => {
    const t = await watched({ retryConfig }, broken, new CallError('gone', { isFinal: true }))
    t.send({})
    expect(calledAt(t, 60_000)).toEqual([0, 1000])
    expect(outcomeAt(t)).toEqual(['0 result s failed: gone at 1000'])
  })

  it('delays a retry, within the longest backoff', async () => {
    const after = (retryAfter: number) => new CallError('busy', { retryAfter })
    const t = await watched({ retryConfig }, after(3000), after(1500), after(90_000), 'On')
    t.send({})
    expect(calledAt(t, 60_000)).toEqual([0, 3000, 5000, 10_000])
  })

  it('may be any error with these fields', async () => {
    const t = await watched({ retryConfig }, Object.assign(new Error('no'), { isFinal: true }))
    t.send({})
    expect(calledAt(t, 60_000)).toEqual([0])
  })
})

// Holds STEP-5
describe('the time limit', () => {
  it('is 50 s by default, after which the execution fails', async () => {
    const t = await watched({}, LATER)
    t.send({})
    t.to(49_999)
    expect(outcome(t)).toEqual([])
    t.to(50_000)
    expect(outcomeAt(t)).toEqual(['0 result s failed: switch took longer than 50000 ms at 50000'])
    expect(outcome(t)).toEqual(['0 result s failed: switch took longer than 50000 ms'])
  })

  it('of a waiting message starts with its call', async () => {
    const t = await watched({ timeout: 'PT2S' }, LATER)
    t.send({})
    t.to(1500)
    t.send({})
    t.to(1999)
    expect(callTimes(t)).toEqual([0])
    t.to(2000)
    expect(callTimes(t)).toEqual([0, 1500])
    t.to(60_000)
    expect(outcomeAt(t)).toEqual([
      '0 result s failed: switch took longer than 2000 ms at 2000',
      '1500 result s failed: switch took longer than 2000 ms at 4000',
    ])
  })
})

describe('a loop', () => {
  const loopDef = '[{"n":1},{"n":2},{"n":3}]'
  const properties = { value: '${loop.n}' }
  const seen = (t: Live) => t.plugs.callsOf('s').map((call) => call.properties['value'])

  it('runs the node once per item; each result is applied, and each call has its own id', async () => {
    const t = await watched({ loopDef, properties }, 'On', 'Off', 'On')
    t.send({})
    expect(seen(t)).toEqual([1, 2, 3])
    expect(t.lines('state')).toEqual(['0 state s ?>On', '0 state s On>Off', '0 state s Off>On'])
    expect(t.plugs.callsOf('s').map(({ id }) => id)).toEqual(['t/1/1/0#0', 't/1/1/0#1', 't/1/1/0#2'])
  })

  it('over something that is not a list of objects is an error', async () => {
    const t = await watched({ loopDef: '${streamdata.items}' }, 'On')
    t.send({ items: '[1]' })
    expect(t.plugs.callsOf('s')).toEqual([])
    expect(t.lines('result')[0]).toMatch(/result s failed: .*loopDef/)
  })
})

describe('a paused node', () => {
  it('ignores a resume if it is not paused', async () => {
    const t = await watched({}, 'On')
    t.task.resume('s')
    expect(t.plugs.calls).toEqual([])
    expect(t.task.info().invocationCount).toBe(0)
  })
})
