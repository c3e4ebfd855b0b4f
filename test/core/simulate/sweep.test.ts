import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { simulate, sweep, type Message, type Rule, type SweepOptions } from '../../../src/index.ts'
import { messageStreams, readings } from '../../../src/testing/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const HOUR = 3_600_000

function hot(threshold: number): Rule {
  return {
    sensors: [
      { label: 'hot', name: 'streamingDataSensor', resource: 'r', properties: { parameter: 't', threshold } },
      { label: 'lull', name: 'delaySensor', properties: { delay: 600_000 } },
    ],
    actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
    triggers: [
      { sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 600 },
      { sourceLabel: 'hot', destinationLabel: 'lull', stateChangeTrigger: { stateFrom: '*', stateTo: 'Below' } },
    ],
  }
}

const messages: readonly Message[] = [70, 80, 90, 75, 85, 60].map((t, i) => ({ resource: 'r', timestamp: i * HOUR, t }))

function swept(set: SweepOptions['set'], more: Partial<SweepOptions> = {}) {
  return sweep(hot(0), { plugs: builtins, messages, set, ...more })
}

describe('sweep', () => {
  it('counts the firings of each destination for each value, in total and per day', async () => {
    const result = await swept({ 'hot.threshold': '70..90/10' }, { until: 12 * HOUR })
    expect(result).toMatchObject({
      parameters: ['hot.threshold'],
      destinations: ['alarm', 'lull'],
      messages: 6,
      late: 0,
      from: 0,
      until: 12 * HOUR,
    })
    expect(result.rows).toEqual([
      { values: { 'hot.threshold': 70 }, fired: { alarm: 4, lull: 1 }, perDay: { alarm: 8, lull: 2 }, errors: 0 },
      { values: { 'hot.threshold': 80 }, fired: { alarm: 2, lull: 3 }, perDay: { alarm: 4, lull: 6 }, errors: 0 },
      { values: { 'hot.threshold': 90 }, fired: { alarm: 0, lull: 5 }, perDay: { alarm: 0, lull: 10 }, errors: 0 },
    ])
  })

  it('runs every combination of several parameters, the last one changing fastest', async () => {
    const { rows } = await swept({ 'hot.threshold': [70, 80], 'alarm.invocationPolicy': [0, 7200] })
    expect(rows.map(({ values, fired }) => [...Object.values(values), fired['alarm']])).toEqual([
      [70, 0, 4],
      [70, 7200, 2],
      [80, 0, 2],
      [80, 7200, 2],
    ])
  })

  it('counts failed executions, and none of a sensor without values', async () => {
    const { rows } = await swept({ 'hot.parameter': ['t', 'resource', 'gone'] })
    expect(rows.map(({ errors }) => errors)).toEqual([0, 6, 0])
  })

  it('has no rate over a period of zero length', async () => {
    const { rows } = await swept({ 'hot.threshold': 5 }, { messages: messages.slice(0, 1) })
    expect(rows[0]?.perDay).toEqual({ alarm: null, lull: null })
  })

  it('reads the messages once, for any number of values', async () => {
    let taken = 0
    function* once(): Generator<Message> {
      for (const message of messages) {
        taken++
        yield message
      }
    }
    await swept({ 'hot.threshold': '1..100/1' }, { messages: once() })
    expect(taken).toBe(messages.length)
  })

  it('returns for each value what simulate returns for a rule with that value', async () => {
    const streams = messageStreams({ metrics: { t: readings(0, 40) }, resources: ['r'], every: '4m', maxLength: 25 })
    const thresholds = fc.array(readings(0, 40), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(streams, thresholds, async (stream, values) => {
        const options = { plugs: builtins, messages: stream }
        const { rows } = await sweep(hot(0), { ...options, set: { 'hot.threshold': values } })
        for (const [i, value] of values.entries()) {
          const { events } = await simulate(hot(value), options)
          const fired = events.filter(({ type }) => type === 'fired').map(({ node }) => node)
          const count = (label: string): number => fired.filter((node) => node === label).length
          expect(rows[i]?.fired).toEqual({ alarm: count('alarm'), lull: count('lull') })
        }
      }),
      runs(40),
    )
  })

  it('reports all invalid paths and values at once', async () => {
    const failure = swept({ 'hot.treshold': [1], 'hot.threshold': '1..2', cold: [], 'alarm.level': 'INFO' })
    await expect(failure).rejects.toMatchObject({ code: 'VALIDATION' })
    await expect(failure).rejects.toThrow(
      /did you mean hot\.threshold\?\n.*lacks a step.*\n.*variable "cold" does not exist/,
    )
  })

  it('names the value with which the rule is invalid', async () => {
    const failure = swept({ 'hot.threshold': [1, { a: 1 }] })
    await expect(failure).rejects.toThrow('with hot.threshold={"a":1}: ')
    await expect(failure).rejects.not.toThrow('with hot.threshold=1:')
  })

  it('rejects a grid above a thousand runs, and one without a parameter', async () => {
    await expect(swept({ 'hot.threshold': '1..40/1', 'alarm.invocationPolicy': '1..40/1' })).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'the grid has 1,600 runs, more than 1,000; use larger steps or fewer values',
    })
    await expect(swept({})).rejects.toThrow('the parameters to set are missing; add one such as node.property')
  })
})
