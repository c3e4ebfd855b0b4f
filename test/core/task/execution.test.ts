import { describe, expect, it } from 'vitest'
import { live } from '../../support/live-engine.ts'
import { on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

const calls = (t: { plugs: { calls: readonly { node: string; now: number }[] } }) =>
  t.plugs.calls.map(({ node, now }) => `${now} ${node}`)

describe('the sensors of one message', () => {
  it('of a later stage see the results of the earlier stage', async () => {
    const t = await live(
      rule({
        sensors: {
          last: on('switch', { sequence: 2, properties: { text: '${nodes.first.state}' } }),
          first: on('switch'),
        },
      }),
    )
    t.send({ first: 'On' })
    expect(t.plugs.callsOf('last')[0]?.properties).toEqual({ text: 'On' })
  })
})

describe('a later stage', () => {
  const two = (more: object) => rule({ sensors: { a: on('late', more), b: on('switch', { sequence: 2 }) } })

  it.each([
    ['the time limit of a call', { timeout: 'PT3S' }, LATER, 3000],
    ['an error', {}, new Error('broken'), 0],
    ['the last of its retries', { retryConfig: { maxRetries: 1, minBackoff: 'PT2S' } }, new Error('broken'), 2000],
    ['an answer without a state', {}, { rawData: {} }, 0],
    ['no result that is held back', {}, { state: 'On', after: 4000 } as const, 0],
    ['no pause', { pauseExecution: true, pauseExecutionTimeout: 'PT7S' }, 'On', 0],
  ] as const)('waits for %s, and keeps the time of its input', async (_, more, said, clock) => {
    const t = await live(two(more), { script: (plugs) => plugs.say('a', said) })
    t.send({})
    t.to(60_000)
    expect(calls(t).filter((text) => text.endsWith('b'))).toEqual(['0 b'])
    const results = t.events.filter(({ type, node }) => type === 'result' && node === 'b')
    expect(results.map((event) => [event.time, event.at ?? event.time])).toEqual([[0, clock]])
  })
})

describe('triggered sensors', () => {
  it('record the source whose trigger ran them', async () => {
    const t = await live(rule({ sensors: { a: on('switch') }, actuators: ['act'], triggers: [trigger('a', 'act')] }))
    t.send({})
    expect(t.plugs.calls.map(({ trigger: source }) => source)).toEqual([undefined, 'a'])
  })

  it('in a chain of 2,000 triggers all run', async () => {
    const count = 2000
    const sensors = Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, 'switch']))
    const triggers = Array.from({ length: count - 1 }, (_, i) => trigger(`s${i}`, `s${i + 1}`))
    const t = await live(rule({ sensors, triggers }))
    t.task.push('s0', { state: 'On' })
    expect(t.plugs.calls).toHaveLength(count - 1)
  })
})
