import { describe, expect, it } from 'vitest'
import { inTheMiddle, saved } from '../../support/busy-task.ts'
import { live, restarted, type Live } from '../../support/live-engine.ts'
import { on, rule } from '../../support/rule-writing.ts'

const phases = (t: Live) => saved(t).state.executing?.map(({ node, phase }) => `${node} ${phase}`)

// Holds STEP-6
describe('a task that is saved with work in flight', () => {
  it('is plain JSON, and is saved equally after a restore', async () => {
    const t = await inTheMiddle()
    const before = saved(t)
    expect(phases(t)).toEqual([
      'held holding',
      'paused paused',
      'looping called',
      'retried retrying',
      'slow called',
      'slow behind',
    ])
    expect(before.state.evaluation?.due).toEqual(['looping'])
    expect(before.state.links.length).toBeGreaterThan(0)
    const { executing: wanted, ...others } = before.state
    const { executing, ...othersAfter } = saved(await restarted(t)).state
    expect(othersAfter).toEqual(others)
    // Open calls are made again, which is counted.
    const withoutCalls = (list: typeof wanted) => list?.map((one) => ({ ...one, calls: 0 }))
    expect(withoutCalls(executing)).toEqual(withoutCalls(wanted))
    const again = executing?.filter(({ calls }, i) => calls !== wanted?.[i]?.calls)
    expect(again?.map(({ node, calls }) => `${node} ${calls}`)).toEqual(['looping 4', 'slow 3'])
  })

  it('contains the current input, waiting inputs, calls in order, and positions of effects', async () => {
    const t = await inTheMiddle()
    const { state } = saved(t)
    const idOf = (node: string) => state.executing?.find((one) => one.node === node)?.id
    expect(state).toMatchObject({ now: 1500, arrived: 2, calls: [idOf('looping')] })
    expect(state.waiting).toEqual([
      {
        time: 1600,
        number: 2,
        kind: 'data',
        messages: [{ resource: 'q', v: 2, x: { $number: '-Infinity' } }],
      },
    ])
    const effects = state.executing?.filter(({ touches }) => touches !== undefined)
    expect(effects?.map(({ node, touches, rendered, placedAt }) => [node, touches, rendered, placedAt])).toEqual([
      ['retried', ['node:retried'], undefined, 1500],
      ['slow', ['node:slow'], [{ value: 7 }], 1500],
      ['slow', ['node:slow'], [{ value: 7 }], 1500],
    ])
    const info = { inputs: 1, effects: 1, since: 1500 }
    expect(t.task.info().waiting).toEqual(info)
    expect((await restarted(t)).task.info().waiting).toEqual(info)
  })
})

describe('a restored task', () => {
  it('that was stopped is stopped, and can be started', async () => {
    const t = await live(rule({ sensors: { s: on('switch') } }))
    await t.engine.stop('t')
    const again = await restarted(t)
    expect(again.task.status).toBe('stopped')
    expect(again.send({})).toBe(false)
    await again.engine.start('t')
    expect(again.lines('started')).toEqual(['0 started 2'])
    expect(again.send({})).toBe(true)
  })
})
