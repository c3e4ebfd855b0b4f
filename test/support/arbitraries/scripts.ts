/**
 * Generates random scripts for a rule: single messages and arrays, equal times, late repeats, odd values, pushes and
 * long pauses.
 */
import fc from 'fast-check'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { type Script, type ScriptInput, type ScriptMessage, SCRIPT_START } from '../model/script.ts'
import { TEST_PLUGS } from '../model/test-plugs.ts'
import { RESOURCES } from './rules.ts'

export interface ScriptOptions {
  /** only what a recording can contain: messages and the passing of time */
  recordingOnly?: boolean
  maxLength?: number
  /** maximum ms between two steps; default: longer than any wait of a rule */
  longestGap?: number
  /** messages have all values, one resource and no timestamp, so that rows take them */
  areEven?: boolean
}

const value = fc.oneof({ weight: 10, arbitrary: fc.nat(20) }, { weight: 1, arbitrary: fc.constant(Number.NaN) })

const partly = fc.record(
  { resource: fc.constantFrom(...RESOURCES, 'elsewhere'), x: value, y: value },
  { requiredKeys: ['resource'] },
)

const even = fc.record({ resource: fc.constant(RESOURCES[0]), x: value, y: value })

const GAPS = [0, 0, 0, 500, 1000, 1000, 2000, 3000, 5000, 10_000, 59_999, 60_000, 75_000]

type Step = { gap: number; late: number; input: ScriptInput }

export function scriptArbitrary(rule: Rule, options: ScriptOptions = {}): fc.Arbitrary<Script> {
  const { longestGap = Infinity, areEven = false } = options
  const message = areEven ? even : partly
  const kinds: fc.WeightedArbitrary<ScriptInput>[] = [
    { weight: 8, arbitrary: fc.array(message, { minLength: 1, maxLength: 1 }).map(dataOf) },
    { weight: 2, arbitrary: fc.array(message, { minLength: 2, maxLength: 4 }).map(dataOf) },
    { weight: 2, arbitrary: fc.constant({ kind: 'wait' as const }) },
  ]
  if (!options.recordingOnly) kinds.push(...fromOutside(rule))
  const step: fc.Arbitrary<Step> = fc.record({
    gap: fc.constantFrom(...GAPS.filter((gap) => gap <= longestGap)),
    late: fc.constantFrom(0, 0, 0, 1500, 70_000),
    input: fc.oneof(...kinds),
  })
  return fc.array(step, { minLength: 1, maxLength: options.maxLength ?? 14 }).map((steps) => {
    let at = 0
    return steps.map(({ gap: pause, late, input }) => {
      at += pause
      if (input.kind !== 'data' || areEven) return { at, input }
      // a late repeat has an earlier time than the clock
      const timestamp = SCRIPT_START + at - late
      return { at, input: { kind: 'data' as const, messages: input.messages.map((m) => ({ ...m, timestamp })) } }
    })
  })
}

function dataOf(messages: ScriptMessage[]): ScriptInput {
  return { kind: 'data', messages }
}

function fromOutside(rule: Rule): fc.WeightedArbitrary<ScriptInput>[] {
  const sensors = rule.sensors ?? []
  const nodes = [...sensors, ...(rule.actuators ?? [])]
  const push = fc
    .record({ sensor: fc.constantFrom(...sensors), n: fc.nat(9), withState: fc.boolean(), withData: fc.boolean() })
    .map(({ sensor, n, withState, withData }): ScriptInput => {
      const states = TEST_PLUGS[sensor.name]?.states ?? []
      const state = withState || !withData ? { state: states[n % states.length] ?? '' } : {}
      return { kind: 'push', node: sensor.label, ...state, ...(withData ? { rawData: { pushed: n } } : {}) }
    })
  const label = fc.constantFrom(...sensors.map((sensor) => sensor.label))
  const kinds: fc.WeightedArbitrary<ScriptInput>[] = [
    { weight: 2, arbitrary: push },
    { weight: 1, arbitrary: label.map((node) => ({ kind: 'run', node })) },
    { weight: 1, arbitrary: fc.constantFrom({ kind: 'stop' }, { kind: 'start' }) },
  ]
  const later = nodes.filter((node) => node.name.startsWith('later'))
  if (later.length > 0) {
    const answer = fc.record({
      node: fc.constantFrom(...later),
      state: fc.constantFrom('Low', 'High', 'High', undefined),
    })
    const settle = answer.map(({ node, state }): ScriptInput => ({
      kind: 'settle',
      node: node.label,
      ...(state === undefined ? {} : { state }),
    }))
    kinds.push({ weight: 6, arbitrary: settle })
  }
  const paused = sensors.filter((sensor) => sensor.pauseExecution)
  if (paused.length > 0) {
    const resume = fc.constantFrom(...paused).map(({ label: node }): ScriptInput => ({ kind: 'resume', node }))
    kinds.push({ weight: 3, arbitrary: resume })
  }
  return kinds
}

/** Generates a rule together with a script for it. */
export function caseArbitrary(
  rules: fc.Arbitrary<Rule>,
  options: ScriptOptions = {},
): fc.Arbitrary<{ rule: Rule; script: Script }> {
  return rules.chain((rule) => scriptArbitrary(rule, options).map((script) => ({ rule, script })))
}
