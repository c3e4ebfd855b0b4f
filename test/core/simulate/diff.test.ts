import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { diffRules, diffRuns, simulate, type Message, type Rule } from '../../../src/index.ts'
import { messageStreams, readings } from '../../../src/testing/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const MINUTE = 60_000

function hot(threshold: number, coolDown = 0): Rule {
  return {
    sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: 'r', properties: { parameter: 't', threshold } }],
    actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
    triggers: [
      {
        sourceLabel: 'hot',
        destinationLabel: 'alarm',
        stateChangeTrigger: { stateFrom: '*', stateTo: 'Above' },
        invocationPolicy: coolDown,
      },
    ],
    task: { resetObservations: false },
  }
}

const rises = [60, 85, 95, 60, 85, 60].map((t, i): Message => ({ resource: 'r', timestamp: i * MINUTE, t }))
const options = { plugs: builtins, messages: rises }

describe('diffRules', () => {
  it('finds nothing between equal rules', async () => {
    const diff = await diffRules(hot(80), hot(80), options)
    expect(diff).toMatchObject({ equal: true, differences: [], more: 0, parted: null, messages: 6 })
    expect(diff.nodes).toEqual([{ node: 'alarm', old: 2, new: 2, equal: 2, moved: 0, onlyOld: 0, onlyNew: 0 }])
  })

  it('finds moved firings and those of one rule only, with both reasons', async () => {
    const { equal, differences, nodes } = await diffRules(hot(80), hot(90), options)
    expect(equal).toBe(false)
    expect(nodes).toEqual([{ node: 'alarm', old: 2, new: 1, equal: 0, moved: 1, onlyOld: 1, onlyNew: 0 }])
    expect(differences).toMatchObject([
      {
        kind: 'moved',
        node: 'alarm',
        time: MINUTE,
        by: MINUTE,
        old: {
          why: { input: { values: { t: 85 } }, trigger: { to: 'Above' } },
          other: [{ source: 'hot', blocked: [{ message: 'hot is Below' }], needs: [{ node: 'hot', state: 'Above' }] }],
        },
        new: { time: 2 * MINUTE, why: { input: { values: { t: 95 } } } },
      },
      { kind: 'onlyOld', time: 4 * MINUTE, old: { other: [{ blocked: [{ message: 'hot is Below' }] }] } },
    ])
  })

  it('treats a firing beyond the tolerance as a different one', async () => {
    const { differences } = await diffRules(hot(80), hot(90), { ...options, tolerance: '59s' })
    expect(differences.map(({ kind, time }) => [kind, time / MINUTE])).toEqual([
      ['onlyOld', 1],
      ['onlyNew', 2],
      ['onlyOld', 4],
    ])
  })

  it('reports the first input at which the rules differ, and the reaction of each', async () => {
    const { parted } = await diffRules(hot(80), hot(90), options)
    expect(parted).toMatchObject({
      time: MINUTE,
      input: { kind: 'message', number: 2, message: { t: 85 } },
      node: 'hot',
      old: {
        event: { type: 'state', from: 'Below', to: 'Above' },
        state: 'Above',
        rawData: { threshold: 80, data: 85 },
      },
      new: { event: null, state: 'Below', rawData: { threshold: 90, data: 85 } },
    })
  })

  it('sees a firing that a cool-down withholds, and until when', async () => {
    const { differences, parted } = await diffRules(hot(80), hot(80, 600), options)
    expect(differences).toMatchObject([
      {
        kind: 'onlyOld',
        time: 4 * MINUTE,
        old: { other: [{ blocked: [{ reason: 'cool-down', until: 11 * MINUTE }] }] },
      },
    ])
    expect(parted).toMatchObject({ node: 'alarm', old: { event: { type: 'fired' } }, new: { event: { type: 'held' } } })
  })

  it('detects differing states without a firing', async () => {
    const diff = await diffRules(hot(90), hot(100), {
      ...options,
      messages: rises.slice(3).map((m) => ({ ...m, t: 95 })),
    })
    const quiet = (threshold: number): Rule => ({ ...hot(threshold), triggers: [] })
    expect(diff.parted?.node).toBe('hot')
    const silent = await diffRules(quiet(90), quiet(100), options)
    expect(silent).toMatchObject({ equal: true, parted: { node: 'hot', time: 2 * MINUTE } })
  })

  it('reports a node that only one rule has', async () => {
    const more = {
      ...hot(80),
      actuators: [...(hot(80).actuators ?? []), { label: 'siren', name: 'log', properties: { message: 'wail' } }],
    }
    const triggers = [
      ...(more.triggers ?? []),
      { sourceLabel: 'hot', destinationLabel: 'siren', statesTrigger: ['Above'] },
    ]
    const { differences, parted } = await diffRules(hot(80), { ...more, triggers }, options)
    expect(differences.map(({ kind, node }) => `${kind} ${node}`)).toEqual(Array(3).fill('onlyNew siren'))
    expect(differences[0]).not.toHaveProperty('new.other')
    expect(parted).toBeNull()
  })

  it('names the rule that cannot start, or both', async () => {
    const broken = { ...hot(80), triggers: [{ sourceLabel: 'hto', destinationLabel: 'alarm' }] }
    await expect(diffRules(hot(80), broken, options)).rejects.toThrow(/hto/)
    const other = { ...hot(80), triggers: [{ sourceLabel: 'hot', destinationLabel: 'alram' }] }
    await expect(diffRules(other, broken, options)).rejects.toThrow(/the old rule: [^]*alram[^]*the new rule: [^]*hto/)
  })

  it.each(['x', -1, Number.NaN])('rejects the tolerance %j', async (tolerance) => {
    await expect(diffRules(hot(80), hot(90), { ...options, tolerance })).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})

describe('diffRuns', () => {
  const streams = messageStreams({ metrics: { t: readings(0, 40) }, resources: ['r'], maxLength: 30 })
  const number = readings(0, 40)

  it('finds the same firings as diffRules', async () => {
    await fc.assert(
      fc.asyncProperty(streams, number, number, fc.constantFrom(0, 120), async (messages, a, b, coolDown) => {
        const playing = { plugs: builtins, messages }
        const both = await diffRules(hot(a), hot(b, coolDown), playing)
        const after = diffRuns(await simulate(hot(a), playing), await simulate(hot(b, coolDown), playing))
        const bare = ({ kind, node, time }: (typeof both.differences)[number]) => [kind, node, time]
        expect(after.differences.map(bare)).toEqual(both.differences.map(bare))
        expect(after.nodes.filter((tally) => tally.old + tally.new > 0)).toEqual(
          both.nodes.filter((tally) => tally.old + tally.new > 0),
        )
        // Steps at one instant count as one for a run that has ended
        if (after.parted) expect(both.parted?.time).toBeLessThanOrEqual(after.parted.time)
      }),
      runs(60),
    )
  })

  it('is symmetric in its arguments', async () => {
    await fc.assert(
      fc.asyncProperty(streams, number, number, async (messages, a, b) => {
        const playing = { plugs: builtins, messages }
        const old = await simulate(hot(a), playing)
        const fresh = await simulate(hot(b), playing)
        const there = diffRuns(old, fresh)
        const back = diffRuns(fresh, old)
        const turned = { onlyOld: 'onlyNew', onlyNew: 'onlyOld', moved: 'moved' } as const
        expect(back.differences.map(({ kind, time }) => [turned[kind], time])).toEqual(
          there.differences.map(({ kind, time }) => [kind, time]),
        )
      }),
      runs(40),
    )
  })

  it('finds the input and withheld firings from the events alone', async () => {
    const diff = diffRuns(await simulate(hot(80), options), await simulate(hot(80, 600), options))
    expect(diff.differences).toMatchObject([
      { kind: 'onlyOld', old: { other: [{ blocked: [{ reason: 'cool-down', until: 11 * MINUTE }] }] } },
    ])
    expect(diff.parted).toMatchObject({ input: { kind: 'message', message: { t: 85, resource: 'r' } } })
  })
})
