/** Small cases that the property of columnar execution found: rows and the plain executor beside each other. */
import { describe, expect, it } from 'vitest'
import { createEngine, definePlug, VirtualClock, type Message, type Rule } from '../../../src/index.ts'
import { builtins } from '../../../plugins/index.ts'

type Values = Omit<Message, 'resource'>

/** Answers plainly, or forgets what it remembers, or remembers. */
const holds = definePlug({
  name: 'holds',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Remembers', 'Not'],
  execute(context) {
    const value = context.streamValue('a')
    if (value === 2) return context.internalState === 1 ? 'Remembers' : 'Not'
    return { state: 'Not', internalState: value === 1 ? 1 : null }
  },
})

/** What happens with messages, by rows or plainly; `leaves`: a listener to firings that goes with the first. */
async function run(rule: Rule, messages: readonly Values[], isPlain: boolean, leaves: number | undefined) {
  const seen: string[] = []
  const act = definePlug({
    name: 'act',
    version: '1.0.0',
    kind: 'actuator',
    execute: (context) => void seen.push(`acts on ${String(context.streamValue('b'))}`),
  })
  const engine = createEngine({
    plugs: [...builtins, act, holds],
    scheduler: new VirtualClock(0),
    ids: () => 't',
    seed: 1,
    onRare: (event) => void (event.type === 'result' && seen.push(`fails: ${event.error}`)),
    ...(isPlain && { latency: () => 0 }),
  })
  await engine.start(rule)
  for (const [i, message] of messages.entries()) {
    if (i === leaves) {
      const listener = engine.events({ types: ['fired'], tasks: ['t'] }).subscribe(() => listener.unsubscribe())
    }
    engine.receive({ resource: 'r', ...message })
  }
  const took = engine.stats()
  await engine.close()
  return { seen, inRows: took.rows + took.vectorized }
}

function ruleOf(
  sensor: Rule['sensors'] extends (infer S)[] | readonly (infer S)[] | undefined ? S : never,
  state: string,
): Rule {
  return {
    sensors: [{ ...sensor, resource: 'r' }],
    actuators: [{ label: 'acts', name: 'act' }],
    triggers: [{ sourceLabel: sensor.label, destinationLabel: 'acts', statesTrigger: [state] }],
  }
}

describe('rows do as the plain executor', () => {
  it.each<[string, Rule, readonly Values[], number | undefined]>([
    [
      'when a sensor calculates with a value that no message had yet',
      ruleOf({ label: 's', name: 'condition', properties: { condition: 'a * 2 > 0 || b < 20' } }, 'True'),
      [{ a: true }, { a: 0 }, { a: 0, b: 0 }, { a: 0, b: 0 }, { a: 0, b: 1 }],
      undefined,
    ],
    [
      'when who is told of a firing leaves in the middle of its message',
      ruleOf({ label: 's', name: 'streamingDataSensor', properties: { parameter: 'a', threshold: 10 } }, 'Below'),
      [
        { a: 10, b: 1 },
        { a: 20, b: 2 },
        { a: 20, b: 3 },
        { a: 0, b: 4 },
        { a: 0, b: 5 },
      ],
      2,
    ],
  ])('%s', async (_, rule, messages, leaves) => {
    const rows = await run(rule, messages, false, leaves)
    const plain = await run(rule, messages, true, leaves)
    expect(rows.inRows).toBeGreaterThan(0)
    expect(plain.inRows).toBe(0)
    expect(rows.seen).toEqual(plain.seen)
  })

  it('when a plug forgets by null what it remembers', async () => {
    const rule = ruleOf({ label: 's', name: 'holds' }, 'Remembers')
    const messages = [2, 1, 2, 2, 0, 2, 2].map((a, b) => ({ a, b }))
    const { seen } = await run(rule, messages, true, undefined)
    expect(seen).toEqual(['acts on 2', 'acts on 3'])
    expect((await run(rule, messages, false, undefined)).seen).toEqual(seen)
  })
})
