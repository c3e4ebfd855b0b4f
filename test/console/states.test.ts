/** What the console computes from states, events and texts. */
import { describe, expect, it } from 'vitest'
import { keysOf, patched, placeOf, recorded, written } from '../../src/console/editor/document.ts'
import { layered, stacked } from '../../src/console/graph/layout.ts'
import {
  apply,
  edgesOf,
  fromView,
  matchOf,
  type NodeStates,
  withBeginnings,
} from '../../src/console/graph/node-states.ts'
import { readRule } from '../../src/console/graph/rule-view.ts'
import { bandAt, bandsOf, changesOf, gapsOf, ticksOf, timeTicksOf } from '../../src/console/plot/bands.ts'

const RULE = readRule({
  sensors: [
    { label: 't', name: 'x' },
    { label: 'p', name: 'x' },
  ],
  relations: [{ label: 'hot', type: 'AND', parentLabels: ['t', 'p'], combinations: [['Above', 'False']] }],
  actuators: [{ label: 'alarm', name: 'x' }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 60 }],
})

describe('states of nodes', () => {
  const view = (node: string, state: string | null) => ({
    node,
    kind: 'sensor',
    mostLikelyState: state === null ? null : { state, probability: 1 },
    collectedTime: 5,
  })

  it('keep the beginning of a state that stays', () => {
    const first = apply(fromView([view('t', 'Below')]), { type: 'state', node: 't', time: 10, to: 'Above' })
    expect(first.get('t')).toMatchObject({ state: 'Above', since: 10 })
    const again = apply(first, { type: 'state', node: 't', time: 20, to: 'Above' })
    expect(again.get('t')).toMatchObject({ state: 'Above', since: 10, ranAt: 20 })
    expect(fromView([view('t', 'Above')], again).get('t')).toMatchObject({ since: 10 })
    expect(fromView([view('t', 'Below')], again).get('t')?.since).toBeUndefined()
  })

  it('show the open call of an actuator until its result', () => {
    const alarm = { node: 'alarm', kind: 'actuator', mostLikelyState: null }
    const open = fromView([alarm], new Map(), [{ kind: 'call', node: 'alarm' }])
    expect(open.get('alarm')).toMatchObject({ isCalling: true })
    expect(apply(open, { type: 'result', node: 'alarm', time: 3, ok: true }).get('alarm')?.isCalling).toBe(false)
  })

  it('take values, errors, firings and evictions from events', () => {
    const events = [
      { type: 'result', node: 't', time: 1, ok: true, rawData: { data: 97 } },
      { type: 'fired', node: 'alarm', time: 2 },
      { type: 'result', node: 'p', time: 3, ok: false, error: 'no answer' },
      { type: 'data', time: 4 },
    ]
    const states = events.reduce<NodeStates>((before, event) => apply(before, event), new Map())
    expect(states.get('t')).toMatchObject({ value: 97, ranAt: 1 })
    expect(states.get('alarm')).toMatchObject({ firedAt: 2 })
    expect(states.get('p')).toMatchObject({ error: 'no answer' })
    expect(apply(states, { type: 'evicted', node: 't', time: 9 }).get('t')).toMatchObject({ state: null, since: 9 })
  })

  it('make edges match, or not, or unknown, fired and held', () => {
    const known: NodeStates = new Map([
      ['t', { state: 'Above' }],
      ['hot', { state: 'TRUE' }],
      ['alarm', { state: null, firedAt: 1_000 }],
    ])
    const at = (instant: number) => edgesOf(RULE, known, instant).map(({ from, to, state }) => `${from}>${to} ${state}`)
    expect(at(1_100)).toEqual(['t>hot match', 'p>hot unknown', 'hot>alarm fired'])
    expect(at(30_000)).toContain('hot>alarm held')
    expect(at(61_001)).toContain('hot>alarm match')
    const edges = edgesOf(RULE, known, 30_000)
    expect(
      ['t', 'p', 'hot', 'alarm'].map((label) => matchOf(label, label === 'hot' ? 'gate' : 'sensor', edges, known)),
    ).toEqual(['match', 'unknown', 'match', 'unknown'])
  })

  it('learn from bands since when they last', () => {
    const bands = new Map([
      [
        't',
        [
          { from: 1, until: 5, state: 'Below' },
          { from: 5, until: 9, state: 'Above' },
        ],
      ],
    ])
    const states: NodeStates = new Map([['t', { state: 'Above' }]])
    expect(withBeginnings(states, bands, 7).get('t')).toMatchObject({ since: 5, isLonger: false })
    expect(withBeginnings(states, undefined, 7)).toBe(states)
  })
})

describe('bands', () => {
  it('leave out states that last no time, and join equal ones', () => {
    const events = [
      { type: 'state', node: 't', time: 0, to: 'Below' },
      { type: 'state', node: 't', time: 10, to: null },
      { type: 'state', node: 't', time: 10, to: 'Below' },
      { type: 'state', node: 't', time: 20, to: null },
      { type: 'state', node: 't', time: 20, to: 'Above' },
      { type: 'fired', node: 't', time: 21 },
    ]
    const bands = bandsOf(events, 30)
    expect(bands.get('t')).toEqual([
      { from: 0, until: 20, state: 'Below' },
      { from: 20, until: 30, state: 'Above' },
    ])
    expect(bandAt(bands.get('t'), 19)?.state).toBe('Below')
    expect(changesOf(bands)).toEqual([0, 20])
  })

  it('find pauses by what is usual', () => {
    expect(gapsOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 50, 51, 52])).toEqual([{ from: 9, until: 50 }])
    expect(gapsOf([])).toEqual([])
  })

  it('have round ticks', () => {
    expect(ticksOf(43, 101, 4)).toEqual([60, 80, 100])
    expect(ticksOf(5, 5, 4)).toEqual([5])
    expect(timeTicksOf(0, 3_600_000, 6)).toEqual([0, 600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000, 3_600_000])
  })
})

describe('a graph', () => {
  const nodes = ['a', 'b', 'c'].map((label) => ({ label, height: 90 }))
  it('stands in layers, in the order of the rule', () => {
    const { at } = layered(nodes, [
      { from: 'a', to: 'c' },
      { from: 'b', to: 'c' },
      { from: 'b', to: 'lost' },
    ])
    const [a, b, c] = nodes.map(({ label }) => at.get(label))
    expect(a?.x).toBe(b?.x)
    expect(c?.x).toBeGreaterThan(a?.x ?? 0)
    expect(a?.y).toBeLessThan(b?.y ?? 0)
    expect(layered([], [])).toMatchObject({ width: 0, height: 0 })
  })

  it('stands in one column on a phone', () => {
    const { at } = stacked(nodes)
    expect(new Set([...at.values()].map(({ x }) => x)).size).toBe(1)
  })

  it('of 300 nodes has all of them placed apart', () => {
    const many = Array.from({ length: 300 }, (_, at) => ({ label: `n${at}`, height: 90 }))
    const edges = many.slice(1).map(({ label }, at) => ({ from: `n${Math.floor(at / 3)}`, to: label }))
    const { at } = layered(many, edges)
    expect(new Set([...at.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(300)
  })
})

describe('the document of the editor', () => {
  const rule = { name: 'r', sensors: [{ label: 'a/b', properties: { limit: 90, list: ['x', 'y~'] } }], empty: {} }

  it.each([
    ['', undefined],
    ['/name', '"r"'],
    ['/sensors/0/properties/limit', '90'],
    ['/sensors/0/properties/list/1', '"y~"'],
    ['/sensors/0/properties/nothing', undefined],
    ['/empty', '{}'],
  ])('has %j in its text', (pointer, value) => {
    const text = written(rule)
    const { from, to } = placeOf(text, pointer)
    if (value !== undefined) expect(text.slice(from, to)).toBe(value)
    expect(to).toBeGreaterThan(from)
  })

  it('is placed in broken text, too', () => {
    for (const text of ['', '{', '{"a"', '{"a":', '[1,', '"', '{"a":[{"b":']) {
      const { from, to } = placeOf(text, '/a/0/b')
      expect(from).toBeLessThanOrEqual(to)
      expect(to).toBeLessThanOrEqual(text.length)
    }
  })

  it('is written so that it reads back equal', () => {
    expect(JSON.parse(written(rule))).toEqual(rule)
    expect(keysOf('/a~1b/~0')).toEqual(['a/b', '~'])
  })

  it.each([
    [
      [{ op: 'replace', path: '/sensors/0/label', value: 'c' }],
      { ...rule, sensors: [{ ...rule.sensors[0], label: 'c' }] },
    ],
    [[{ op: 'add', path: '/version', value: 1 }], { ...rule, version: 1 }],
    [[{ op: 'remove', path: '/empty' }], { name: rule.name, sensors: rule.sensors }],
    [[{ op: 'move', from: '/name', path: '/title' }], { sensors: rule.sensors, empty: {}, title: 'r' }],
    [[{ op: 'add', path: '/sensors/-', value: 1 }], { ...rule, sensors: [...rule.sensors, 1] }],
  ])('takes the correction %j', (fix, expected) => {
    expect(patched(rule, fix)).toEqual(expected)
    expect(rule.name).toBe('r')
  })

  it('undoes typing in one step, and each correction by itself', () => {
    let history = { texts: ['a'], at: 0, time: 0 } as ReturnType<typeof recorded>
    history = recorded(history, 'ab', 1_000, false)
    history = recorded(history, 'abc', 1_100, false)
    expect(history.texts).toEqual(['a', 'abc'])
    history = recorded(history, 'abcd', 1_200, true)
    history = recorded(history, 'abcde', 1_300, false)
    expect(history.texts).toEqual(['a', 'abc', 'abcd', 'abcde'])
    expect(recorded({ ...history, at: 1 }, 'x', 9_000, true).texts).toEqual(['a', 'abc', 'x'])
  })
})
