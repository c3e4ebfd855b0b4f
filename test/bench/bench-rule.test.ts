/**
 * Tests the benchmark of a rule in real processes with tiny samples: its results and its rejections. Speed is not
 * tested.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type * as Bench from '../../src/bench/index.ts'
import { comparisonWith } from '../../src/bench/compare-lines.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import type { Message } from '../../src/core/task/origin.ts'
import { builtCode } from '../support/built-code.ts'
import { root } from '../support/repository.ts'
import { Workspace } from '../cli/run-cli.ts'

// built, since each sample starts a process
const built: unknown = await import(builtCode('bench.js'))
const { benchReport, benchRule, latencyPlot } = built as typeof Bench

const rule: Rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [{ label: 'act', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'act', statesTrigger: ['Above'] }],
}
const messages: readonly Message[] = Array.from({ length: 50 }, (_, i) => {
  return { resource: 'r', timestamp: 1_767_225_600_000 + i * 1000, t: 70 + i }
})
const quick = { messages, resource: 'r', rounds: 1, seconds: 0.01, rate: 100_000 } as const

describe('benchRule', () => {
  it('returns rates, the share of a limit with equal firings, lateness, and the execution paths of messages', async () => {
    const told: string[] = []
    const result = await benchRule(rule, { ...quick, copies: 3, onProgress: (_, what) => told.push(what) })
    expect(result).toMatchObject({ format: 1, copies: 3, messages: 150, unheard: 0, firings: 3 * 29, limit: 'loop' })
    expect(result.lines.map(({ name }) => name)).toEqual(['limit', 'none', 'fired', 'why'])
    for (const { name, rate, samples, ofLimit } of result.lines) {
      expect(rate.value).toBeGreaterThan(0)
      expect(samples).toHaveLength(1)
      expect(samples[0]?.bytes).toBeGreaterThanOrEqual(0)
      expect(ofLimit === undefined).toBe(name === 'limit')
      expect((samples[0]?.heard ?? 0) > 0).toBe(name === 'fired' || name === 'why')
      const { ways, messages: taken = 0 } = samples[0] ?? {}
      if (ways !== undefined) expect(ways.rows + ways.plain + ways.vectorized).toBe(taken)
    }
    const { p50, p99, p999, max } = result.latency
    expect([p50, p99, p999, max]).toEqual([p50, p99, p999, max].toSorted((a, b) => a - b))
    expect(told.length).toBeGreaterThan(5)
    expect(benchReport(result, 'text')).toContain('3 tasks')
    expect(benchReport(result, 'markdown')).toMatch(/^\| {2}\| messages\/s \|/m)
    expect(latencyPlot(result)).toMatch(/^<svg /)
  })

  it('measures a rule without a limit, and reports why it has none', async () => {
    const ticking: Rule = { ...rule, task: { type: 'periodic', frequency: 1000 } }
    const result = await benchRule(ticking, { ...quick, listen: ['none'] })
    expect(result.lines.map(({ name }) => name)).toEqual(['none'])
    expect(benchReport(result, 'text')).toContain(
      'The rule does not have a limit: a task of type periodic has its own clock',
    )
  })

  it('does not call plugs with outside effects', async () => {
    using workspace = new Workspace({})
    const plugs = join(workspace.path, 'plugs.ts')
    writeFileSync(
      plugs,
      `import { readFileSync, writeFileSync } from 'node:fs'
       import { definePlug } from '${join(root, 'src/plug.ts')}'
       export const shout = definePlug({ name: 'shout', version: '1.0.0', kind: 'actuator', acts: true,
         execute() { throw new Error('it was called') } })
       export const note = definePlug({ name: 'note', version: '1.0.0', kind: 'actuator',
         execute() { writeFileSync('${join(workspace.path, 'noted')}', '') } })`,
    )
    const acting: Rule = { ...rule, actuators: [{ label: 'act', name: 'shout' }] }
    const result = await benchRule(acting, { ...quick, listen: ['none'], plugs: [plugs] })
    expect(result.lines.find(({ name }) => name === 'none')?.samples[0]?.ways?.why.answer).toBe(0)
  })

  // Holds BENCHRULE-1
  it('takes each sample in its own process, all lines in each round', async () => {
    using workspace = new Workspace({})
    const started = join(workspace.path, 'started')
    const plugs = join(workspace.path, 'plugs.ts')
    writeFileSync(
      plugs,
      `import { appendFileSync } from 'node:fs'
       import { definePlug } from '${join(root, 'src/plug.ts')}'
       appendFileSync('${started}', process.pid + '\\n')
       export const quiet = definePlug({ name: 'quiet', version: '1.0.0', kind: 'actuator', execute() {} })`,
    )
    const told: string[] = []
    await benchRule(rule, {
      ...quick,
      rounds: 2,
      listen: ['none', 'all'],
      plugs: [plugs],
      onProgress: (_, what) => told.push(what),
    })
    expect(told.filter((what) => what.startsWith('round'))).toEqual([
      'round 1 of 2: loop',
      'round 1 of 2: none',
      'round 1 of 2: all',
      'round 2 of 2: all',
      'round 2 of 2: none',
      'round 2 of 2: loop',
    ])
    const processes = readFileSync(started, 'utf8').trim().split('\n')
    expect(processes).toHaveLength(told.length)
    expect(new Set(processes).size).toBe(told.length)
  })

  // Holds BENCHRULE-2
  it('has no share of a loop with other firings than the engine', async () => {
    using workspace = new Workspace({})
    const plugs = join(workspace.path, 'plugs.ts')
    writeFileSync(
      plugs,
      `import { definePlug } from '${join(root, 'src/plug.ts')}'
       export const liar = definePlug({ name: 'liar', version: '1.0.0', kind: 'sensor', states: ['No', 'Yes'],
         steps: () => ({ parameter: 't', cuts: [90], states: ['No', 'No', 'Yes'] }),
         execute: (context) => (context.streamValue('t') > 80 ? 'Yes' : 'No') })`,
    )
    const lying: Rule = {
      ...rule,
      sensors: [{ label: 'hot', name: 'liar', resource: '$', properties: {} }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'act', statesTrigger: ['Yes'] }],
    }
    const { limits, lines } = await benchRule(lying, { ...quick, listen: ['none'], plugs: [plugs] })
    expect(limits).toEqual({ reason: 'the generated loop fired 29 times, and the engine fired 39 times' })
    expect(lines.map(({ name, ofLimit }) => [name, ofLimit])).toEqual([['none', undefined]])
  })

  it('samples another state in the same rounds, with equal code beside it', async () => {
    const against = { name: 'before', rule, plugs: [] }
    const { comparison } = await benchRule(rule, { ...quick, rounds: 2, listen: ['none'], against, failOver: 0.05 })
    expect(comparison).toMatchObject({ with: 'before', isTooNoisy: false, gate: { share: 0.05, failed: [] } })
    expect(comparison?.lines.map(({ name, verdict }) => [name, verdict])).toEqual([['none', 'too few rounds']])
    expect(comparison?.equalCode?.verdict).toBe('too few rounds')
  })

  it.each<[string, Parameters<typeof benchRule>[1], string]>([
    ['no messages', { ...quick, messages: [] }, 'the messages are empty; use at least one'],
    ['a message without a time', { ...quick, messages: [{ resource: 'r' }] }, 'message 1 lacks a timestamp'],
    ['messages about something else', { ...quick, resource: 'other' }, 'they are about r; use one of them'],
    ['a share in percent', { ...quick, failOver: 5 }, 'failOver: 5 is out of range; use a share from 0 to 1'],
    ['copies of nothing', { messages, copies: 2 }, 'copies: the task lacks a resource'],
    ['half a copy', { ...quick, copies: 0.5 }, 'copies: 0.5 is out of range; use a whole number'],
    ['a plug that does not exist', { ...quick, plugs: ['/nowhere.mjs'] }, 'the file does not exist'],
  ])('rejects %s', async (_, options, message) => {
    await expect(benchRule(rule, options)).rejects.toThrow(message)
  })

  it('reports the problems of a rule, as a start does', async () => {
    const wrong = { ...rule, triggers: [{ sourceLabel: 'hott', destinationLabel: 'act' }] }
    await expect(benchRule(wrong, quick)).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})

describe('a comparison', () => {
  const line = (name: 'limit' | 'none', costs: readonly number[]): Bench.BenchResult['lines'][number] => {
    const sample = { otherCpuMs: 0, wallMs: 0, collections: 0, collectionMs: 0, bytes: 0, heard: 0 }
    const samples = costs.map((cost) => ({ ...sample, messages: 1e6, cpuMs: cost }))
    return { name, samples, rate: { value: 1, low: 1, high: 1 } }
  }
  const around = (cost: number) => [1, 1.01, 0.99, 1.005, 0.995, 1].map((share) => share * cost)
  const compared = (before: readonly Bench.BenchResult['lines'][number][], again = around(10)) =>
    comparisonWith([line('limit', around(1)), line('none', around(10))], {
      other: { name: 'old', lines: before },
      again,
      paired: false,
      failOver: 0.05,
    })

  it('with an earlier run fails the gate when a line is significantly slower', () => {
    const { gate, lines } = compared([line('limit', around(1)), line('none', around(8))])
    expect(gate?.failed).toEqual(['none'])
    expect(lines[0]).toMatchObject({ name: 'none', verdict: 'worse' })
  })

  it('measures in units of the limit: a slow hour of the machine is not a change', () => {
    const { gate, lines } = compared([line('limit', around(0.5)), line('none', around(5))])
    expect(gate?.failed).toEqual([])
    expect(lines[0]?.verdict).toBe('no difference')
  })

  // Holds BENCHRULE-3
  it('has no verdict when equal code differed', () => {
    const comparison = compared([line('limit', around(1)), line('none', around(8))], around(12))
    expect(comparison).toMatchObject({ isTooNoisy: true, gate: { failed: [] } })
  })

  it('contains only lines of both runs', () => {
    expect(compared([line('limit', around(1))]).lines).toEqual([])
  })
})
