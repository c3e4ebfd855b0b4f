import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { simulate, type EngineEvent, type Message, type Rule } from '../../../src/index.ts'

const RULE: Rule = {
  sensors: [
    { label: 'hot', name: 'condition', resource: '$', properties: { condition: 'temperature > 50' } },
    { label: 'wet', name: 'condition', resource: '$', properties: { condition: 'humidity > 60' } },
  ],
  relations: [{ label: 'both', type: 'AND', parentLabels: ['hot', 'wet'], combinations: [['True', 'True']] }],
  actuators: [{ label: 'note', name: 'log', properties: { message: '${streamdata.temperature} degrees' } }],
  triggers: [{ sourceLabel: 'both', destinationLabel: 'note', statesTrigger: ['TRUE'], invocationPolicy: 2 }],
  task: { type: 'reactive' },
}
const MESSAGES: Message[] = Array.from({ length: 60 }, (_, i) => ({
  resource: 'r',
  timestamp: i * 100,
  temperature: (i * 37) % 100,
  humidity: (i * 53) % 100,
}))

async function run(latency?: Record<string, number>) {
  const of = { plugs: builtins, messages: MESSAGES, resource: 'r' }
  return simulate(RULE, latency === undefined ? of : { ...of, latency })
}

function told(events: readonly EngineEvent[]): unknown[] {
  return events.flatMap((event) => {
    const { at: _at, ...rest } = event
    return event.type === 'result' && event.node === 'note' ? [] : [rest]
  })
}

describe('late results in a simulation', () => {
  it('do not change events, and report the lag', async () => {
    const atOnce = await run()
    const late = await run({ condition: 150, note: 1000 })
    expect(atOnce.events.filter(({ type }) => type === 'fired').length).toBeGreaterThan(2)
    expect(told(late.events)).toEqual(told(atOnce.events))
    expect([atOnce.maxLag, late.maxLag > 1000]).toEqual([0, true])
    expect(late.events.some(({ at }) => at !== undefined)).toBe(true)
  })

  it('use the latency of the node if configured, otherwise of the plug', async () => {
    const { maxLag } = await run({ condition: 150, hot: 0, wet: 0 })
    expect(maxLag).toBe(0)
  })
})
